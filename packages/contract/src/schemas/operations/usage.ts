import { oneOfStrings, ref, time } from '../kit.ts';
import { integrationPath, integrationRefusals, operation, pageQuery } from '../operation.ts';
import { Type } from '../type.ts';
import { UsageRecordList, UsageSummary, usageGrouping } from '../usage.ts';

export const listUsage = operation({
  operationId: 'listUsage',
  method: 'GET',
  path: `${integrationPath}/usage`,
  summary: 'List usage records, newest first',
  description:
    'With `format=csv` all records that match come in one answer: `limit` and `cursor` are for pages of JSON.',
  tags: ['Usage'],
  auth: true,
  params: Type.Object({ apiIntegrationId: Type.String() }),
  query: Type.Object({
    usageRequestId: Type.Optional(Type.String()),
    consumerId: Type.Optional(Type.String()),
    from: Type.Optional(time({ description: 'Runs admitted at this time or later.' })),
    to: Type.Optional(time({ description: 'Runs admitted before this time.' })),
    format: Type.Optional(oneOfStrings(['json', 'csv'])),
    ...pageQuery,
  }),
  responses: {
    200: {
      description: 'A page of usage records, or all of them as CSV.',
      schema: ref(UsageRecordList),
      otherContent: { 'text/csv': Type.String() },
      headers: { 'Content-Disposition': Type.String({ description: 'For CSV: `attachment`, with a file name.' }) },
    },
    ...integrationRefusals(),
  },
});

export const summariseUsage = operation({
  operationId: 'summariseUsage',
  method: 'GET',
  path: `${integrationPath}/usage/summary`,
  summary: 'Add up usage by day, member, agent or model',
  description:
    'The group with the newest run comes first. A run that asked several models counts in the group of each; one that ' +
    'asked none is in no group of `model`. `charged` is what the ended runs count for in each unit, whatever the ' +
    'integration’s unit is.',
  tags: ['Usage'],
  auth: true,
  params: Type.Object({ apiIntegrationId: Type.String() }),
  query: Type.Object({
    groupBy: usageGrouping(),
    from: Type.Optional(time({ description: 'Runs admitted at this time or later.' })),
    to: Type.Optional(time({ description: 'Runs admitted before this time.' })),
    ...pageQuery,
  }),
  responses: {
    200: { description: 'A page of groups.', schema: ref(UsageSummary) },
    ...integrationRefusals(),
  },
});
