import type { OperationId } from '@runwire/contract/schemas';
import { FOLDER, HOME, INTEGRATION, type LoopStage, SOUGHT } from './loop-stage.ts';

/** Requests that are sent concurrently, `times` each. */
export interface LoopRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly times?: number;
  /** 200 by default. */
  readonly status?: number;
}

const list = (path: string): LoopRequest[] => [
  { path: `${path}${path.includes('?') ? '&' : '?'}limit=200`, times: 10 },
];
const post = (path: string, body: object, status = 201): LoopRequest[] => [{ method: 'POST', path, body, status }];
const remove = (path: string, status = 204): LoopRequest[] => [{ method: 'DELETE', path, status }];

/**
 * Every operation of the API with the sizes of `LoopSizes`, in the order in which they are measured: what deletes is last.
 * A new operation does not type-check until it is here.
 */
export const LOOP_TABLE: Readonly<Record<OperationId, (stage: LoopStage) => readonly LoopRequest[]>> = {
  getHealth: () => [{ path: '/healthz' }],
  getReadiness: () => [{ path: '/readyz' }],
  headHealth: () => [{ method: 'HEAD', path: '/healthz' }],
  headReadiness: () => [{ method: 'HEAD', path: '/readyz' }],
  headOpenApi: () => [{ method: 'HEAD', path: '/openapi.json' }],
  headDocs: () => [{ method: 'HEAD', path: '/docs' }],
  getRoot: () => [{ path: '/', status: 302 }],
  getMetrics: () => [{ path: '/metrics' }],
  getOpenApi: () => [{ path: '/openapi.json', times: 3 }],
  getAgencySchema: () => [{ path: '/agency.schema.json' }],
  getEvalSchema: () => [{ path: '/evals.schema.json' }],
  getDocs: () => [{ path: '/docs', times: 3 }],
  getOverview: () => [
    { path: '/v2/overview', times: 10 },
    { path: '/v2/overview?hours=168', times: 10 },
  ],
  listNodes: () => list('/v2/nodes'),
  listAgencies: () => [{ path: '/v2/agencies' }],
  getAgencyDefinition: () => [{ path: '/v2/agencies/demo/definition' }],
  getMe: () => [{ path: '/v2/me' }],
  updateMe: () => [{ method: 'PATCH', path: '/v2/me', body: { name: 'x'.repeat(100) } }],
  createOwner: () => post('/v2/owners', { email: 'new@example.com' }),
  listOwners: () => list('/v2/owners'),
  createPerson: () => post('/v2/people', { email: 'new-person@example.com', role: 'viewer' }),
  listPeople: () => list('/v2/people'),
  getPerson: ({ personId }) => [{ path: `/v2/people/${personId}` }],
  updatePerson: ({ personId }) => [{ method: 'PATCH', path: `/v2/people/${personId}`, body: { name: 'Ann' } }],
  listAudit: () => [...list('/v2/audit'), { path: '/v2/audit?format=csv', times: 2 }],
  createApiKey: () => post('/v2/api_keys', { name: 'new' }),
  listApiKeys: () => list('/v2/api_keys'),
  createIntegration: () => post('/v2/integrations', { apiIntegrationId: 'new' }),
  listIntegrations: () => list('/v2/integrations'),
  getIntegration: () => [{ path: HOME }],
  updateIntegration: () => [{ method: 'PATCH', path: HOME, body: { name: 'Large' } }],
  putMember: () => [{ method: 'PUT', path: `${HOME}/members/ann`, body: { name: 'Ann' } }],
  getMember: () => [{ path: `${HOME}/members/ann` }],
  listMembers: () => [...list(`${HOME}/members`), ...list(`${HOME}/members?q=an`)],
  createAdjustment: () =>
    post(`${HOME}/members/ann/adjustments`, {
      unit: 'runs',
      amount: 1,
      idempotencyKey: 'new',
      reason: 'Another gift.',
    }),
  listAdjustments: () => list(`${HOME}/members/ann/adjustments`),
  createSchedule: () => post(`${HOME}/schedules`, SCHEDULE),
  listSchedules: () => list(`${HOME}/schedules`),
  getSchedule: ({ scheduleId }) => [{ path: `${HOME}/schedules/${scheduleId}` }],
  updateSchedule: ({ scheduleId }) => [
    { method: 'PATCH', path: `${HOME}/schedules/${scheduleId}`, body: { name: 'Another' } },
  ],
  runSchedule: ({ scheduleId }) => post(`${HOME}/schedules/${scheduleId}/run`, {}, 202),
  listScheduleTicks: ({ scheduleId }) => list(`${HOME}/schedules/${scheduleId}/ticks`),
  createClientToken: () => post(`${HOME}/client_tokens`, { consumerId: 'ann', can: ['read'] }),
  createAgencyUpload: () =>
    post(
      '/create_agency_upload',
      { apiIntegrationId: INTEGRATION, folder: FOLDER, filename: 'new.txt', contentType: 'text/plain', sizeBytes: 3 },
      200,
    ),
  listFiles: () => list(`${HOME}/files?folder=${encodeURIComponent(FOLDER)}`),
  getFileContent: () => [{ path: `${HOME}/files/content?path=/app/mnt/one/large`, times: 5 }],
  headFileContent: () => [{ method: 'HEAD', path: `${HOME}/files/content?path=/app/mnt/one/large` }],
  createChat: () => post(`${HOME}/chats`, { chatId: 'new' }),
  forkChat: () => post(`${HOME}/chats/short/fork`, {}),
  getChat: () => [{ path: `${HOME}/chats/short` }],
  updateChat: () => [{ method: 'PATCH', path: `${HOME}/chats/short`, body: { title: 'Another title' } }],
  listChats: () => [
    ...list(`${HOME}/chats`),
    ...list(`${HOME}/chats?waiting=true`),
    { path: `${HOME}/chats?q=${SOUGHT}`, times: 2 },
  ],
  listQuestions: () => list('/v2/questions?state=all'),
  answerQuestions: () => post(`${HOME}/chats/short/answers`, { answers: [{ questionId: 'q', approve: true }] }, 400),
  listChatMessages: () => list(`${HOME}/chats/short/messages`),
  getChatStatus: () => [{ path: `${HOME}/chat_status?chatId=short` }],
  getRun: ({ runId }) => [{ path: `${HOME}/runs/${runId}`, times: 10 }],
  listRuns: () => [
    ...list(`${HOME}/runs`),
    ...list(`${HOME}/runs?agent=Clerk&status=completed`),
    { path: `${HOME}/runs?q=${SOUGHT}`, times: 2 },
  ],
  getRunAttachment: ({ runId }) => [{ path: `${HOME}/runs/${runId}/attachments/none`, status: 404 }],
  listRunSteps: ({ runId }) => list(`${HOME}/runs/${runId}/steps`),
  getStepPrompt: ({ runId }) => [{ path: `${HOME}/runs/${runId}/steps/1/prompt`, times: 5 }],
  rerunRun: ({ runId }) => post(`${HOME}/runs/${runId}/rerun`, {}, 200),
  runEval: () => post(`${HOME}/evals/run`, { request: { message: 'Hello' } }, 200),
  compareRuns: ({ runId }) => [{ path: `${HOME}/runs/${runId}/compare?with=${runId}`, times: 5 }],
  getRunEvents: ({ runId, sizes }) => [{ path: `${HOME}/runs/${runId}/events`, times: sizes.readers }],
  cancelRun: ({ runId }) => [{ method: 'POST', path: `${HOME}/runs/${runId}/cancel`, body: {} }],
  listUsage: () => [...list(`${HOME}/usage`), { path: `${HOME}/usage?format=csv`, times: 2 }],
  summariseUsage: () => [
    { path: `${HOME}/usage/summary?groupBy=day&splitBy=model`, times: 2 },
    { path: `${HOME}/usage/summary?groupBy=consumer`, times: 2 },
  ],
  summariseLatency: () => [{ path: `${HOME}/latency`, times: 2 }],
  getCompletionV2: ({ sizes }) => [
    // A new run after a long history, a run with a long message, and replays of a long run.
    ...post('/get_completion_v2', { ...MEMBER, usageRequestId: 'next', chatId: 'short', message: 'Hello' }, 200),
    ...post(
      '/get_completion_v2',
      { ...MEMBER, usageRequestId: 'large', message: 'x'.repeat(sizes.messageCharacters) },
      200,
    ),
    {
      method: 'POST',
      path: '/get_completion_v2',
      body: { ...MEMBER, usageRequestId: 'long', chatId: 'long', message: 'Write much.' },
      times: Math.ceil(sizes.readers / 10),
    },
  ],
  deleteFile: () => remove(`${HOME}/files?path=${encodeURIComponent(FOLDER)}&recursive=true`),
  deleteChat: () => [...remove(`${HOME}/chats/short`), ...remove(`${HOME}/chats/long`)],
  deleteSchedule: ({ scheduleId }) => remove(`${HOME}/schedules/${scheduleId}`),
  revokeApiKey: ({ keyId }) => remove(`/v2/api_keys/${keyId}`),
  deletePerson: ({ personId }) => remove(`/v2/people/${personId}`),
  deleteOwner: ({ ownerId }) => remove(`/v2/owners/${ownerId}`),
  deleteMember: () => [...remove(`${HOME}/members/ann0000001`), ...remove(`${HOME}/members/bob?erase=true`, 202)],
  getErasure: () => [{ path: `${HOME}/members/bob/erasure` }],
  createWebhook: () => post(`${HOME}/webhooks`, { url: null }),
  listWebhooks: () => list(`${HOME}/webhooks`),
  getWebhook: ({ endpointId }) => [{ path: `${HOME}/webhooks/${endpointId}` }],
  updateWebhook: ({ endpointId }) => [
    { method: 'PATCH', path: `${HOME}/webhooks/${endpointId}`, body: { description: 'x' } },
  ],
  rotateWebhook: ({ endpointId }) => post(`${HOME}/webhooks/${endpointId}/rotate`, {}, 200),
  testWebhook: ({ endpointId }) => post(`${HOME}/webhooks/${endpointId}/test`, {}, 202),
  listWebhookDeliveries: ({ endpointId }) => list(`${HOME}/webhooks/${endpointId}/deliveries`),
  getWebhookDelivery: ({ endpointId, deliveryId }) => [
    { path: `${HOME}/webhooks/${endpointId}/deliveries/${deliveryId}` },
  ],
  redeliverWebhook: ({ endpointId, deliveryId }) =>
    post(`${HOME}/webhooks/${endpointId}/deliveries/${deliveryId}/redeliver`, {}, 202),
  replayWebhook: ({ endpointId }) =>
    post(
      `${HOME}/webhooks/${endpointId}/replay`,
      { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', types: ['webhook.test'] },
      202,
    ),
  deleteWebhook: ({ endpointId }) => remove(`${HOME}/webhooks/${endpointId}`),
  deleteIntegration: () => remove(HOME),
};

const MEMBER = { apiIntegrationId: INTEGRATION, consumerId: 'ann' };
const SCHEDULE = { name: 'Yearly', cron: '0 0 1 1 *', request: { message: 'Hello', consumerId: 'ann' } };
