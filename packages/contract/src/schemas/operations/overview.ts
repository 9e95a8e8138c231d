import { ref, text } from '../kit.ts';
import { operation, refusals } from '../operation.ts';
import { Overview } from '../overview.ts';
import { Type } from '../type.ts';
import { json } from './examples.ts';

const measures = {
  runs: 120,
  failed: 3,
  cancelled: 1,
  tokens: 51_000,
  cost: { amount: 1.25, currency: 'EUR' },
  durationMs: { p50: 2100, p95: 6400 },
  firstTokenMs: { p50: 380, p95: 900 },
};

export const getOverview = operation({
  operationId: 'getOverview',
  method: 'GET',
  path: '/v2/overview',
  summary: 'Show what happened in the last hours, and what needs a person',
  description:
    'Over all integrations of the owner, or over one. The hours are whole: with `hours=24` it begins 23 hours before the current ' +
    'hour. `before` has the same number of hours before that.',
  tags: ['Usage'],
  auth: true,
  query: Type.Object({
    integration: Type.Optional(text('Only this integration.')),
    hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 168, description: 'How many hours; the default is 24.' })),
  }),
  example: {
    query: { integration: 'demo', hours: 24 },
    status: 200,
    answer: json({
      from: '2030-01-01T00:00:00.000Z',
      to: '2030-01-01T23:12:00.000Z',
      measures,
      before: { ...measures, runs: 90, failed: 0 },
      activeRuns: 2,
      openQuestions: 1,
      failures: [{ code: 'model_error', error: 'The model could not answer.', count: 3, runId: 'run_1' }],
      brokenAgencies: [],
      failedMcpServers: [],
      exhaustedMembers: [{ apiIntegrationId: 'demo', consumerId: 'user-42' }],
      expiringKeys: [{ keyId: 'key_1', name: 'backend', expiresAt: '2030-01-09T00:00:00.000Z' }],
      disabledWebhooks: [],
    }),
  },
  responses: {
    200: { description: 'The overview.', schema: ref(Overview) },
    ...refusals(401, 403, 404, 503),
  },
});
