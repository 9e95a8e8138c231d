import { AuditEventList } from '../audit.ts';
import { oneOfStrings, ref, text, time } from '../kit.ts';
import { operation, pageQuery, refusals } from '../operation.ts';
import { Type } from '../type.ts';
import { page } from './examples.ts';

export const listAudit = operation({
  operationId: 'listAudit',
  method: 'GET',
  path: '/v2/audit',
  summary: 'List who changed what, newest first',
  description: 'With `format=csv` one answer contains all matching events; `limit` and `cursor` are only for JSON.',
  tags: ['Accounts'],
  auth: true,
  query: Type.Object({
    actor: Type.Optional(text('Only changes by this person, key or member (`actor.id`).')),
    operation: Type.Optional(text('Only changes by this operation, such as `createApiKey`.')),
    target: Type.Optional(text('Only changes of this target, such as `key:key_1`.')),
    from: Type.Optional(time('Only changes at this time or later.')),
    to: Type.Optional(time('Only changes before this time.')),
    format: Type.Optional(oneOfStrings(['json', 'csv'], { description: 'Format of the answer; default `json`.' })),
    ...pageQuery,
  }),
  example: {
    query: { operation: 'updatePerson', limit: 50 },
    status: 200,
    answer: page({
      eventId: 'aud_1',
      at: '2030-01-01T09:00:00.000Z',
      actor: { kind: 'person', id: 'own_1', name: 'Ann' },
      operation: 'updatePerson',
      target: 'person:per_1',
      apiIntegrationId: null,
      changes: { role: { before: 'developer', after: 'operator' } },
      requestId: 'req_1',
      address: '192.0.2.7',
    }),
  },
  responses: {
    200: {
      description: 'A page of events, or all of them as CSV.',
      schema: ref(AuditEventList),
      otherContent: { 'text/csv': text('One row for each event, after a row with the names of the columns.') },
      headers: { 'Content-Disposition': text('For CSV: `attachment`, with a file name.') },
    },
    ...refusals(400, 401, 403, 500, 503),
  },
});
