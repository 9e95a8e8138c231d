import { Type } from 'typebox';
import { oneOfStrings, ref, time } from '../kit.ts';
import { integrationPath, integrationRefusals, operation, pageQuery } from '../operation.ts';
import { UsageRecordList } from '../usage.ts';

export const listUsage = operation({
  operationId: 'listUsage',
  method: 'GET',
  path: `${integrationPath}/usage`,
  summary: 'List usage records, newest first',
  tags: ['Usage'],
  auth: true,
  params: Type.Object({ apiIntegrationId: Type.String() }),
  query: Type.Object({
    usageRequestId: Type.Optional(Type.String()),
    consumerId: Type.Optional(Type.String()),
    from: Type.Optional(time({ description: 'Runs admitted at this time or later.' })),
    to: Type.Optional(time({ description: 'Runs admitted before this time.' })),
    format: Type.Optional(oneOfStrings(['json'])),
    ...pageQuery,
  }),
  responses: {
    200: { description: 'A page of usage records.', schema: ref(UsageRecordList) },
    ...integrationRefusals(),
  },
});
