/** Records that the examples of several operations share. */

const CREATED_AT = '2030-01-01T09:00:00.000Z';
const COMPLETED_AT = '2030-01-01T09:00:02.500Z';

export const integrationExample = { apiIntegrationId: 'demo' };

/** An example of a JSON answer. */
export const json = (body: unknown) => ({ 'application/json': body });

/** An example of a list with one item, which is the last page. */
export const page = (item: unknown) => json({ items: [item], nextCursor: null });

export const usage = {
  request_count: 1,
  input_tokens: 12,
  cached_tokens: 0,
  output_tokens: 5,
  reasoning_tokens: 0,
  total_tokens: 17,
};

const shortRun = {
  runId: 'run_1',
  usageRequestId: 'req-1',
  status: 'completed',
  agent: 'Concierge',
  attempt: 1,
  lastEventId: 12,
  createdAt: CREATED_AT,
  startedAt: CREATED_AT,
  completedAt: COMPLETED_AT,
  error: null,
  message: 'Hello',
  usage,
};

export const run = {
  ...shortRun,
  apiIntegrationId: 'demo',
  chatId: 'c1',
  chatDeleted: false,
  consumerId: 'user-42',
  cancelRequested: null,
  agencyVersion: '9f2c51d07ab3e846',
  firstTokenMs: 380,
  cost: { amount: 0.000475, currency: 'EUR' },
  continues: null,
  rerunOf: null,
  pending: [],
  output: null,
  agents: ['Concierge'],
  models: ['offline/demo'],
  waiting: false,
  continuedBy: null,
  messagePreview: 'Which trains go to Rome?',
  answerPreview: 'Hello',
  durationMs: 1000,
};

export const step = {
  step: 1,
  attempt: 1,
  kind: 'tool',
  agent: 'Concierge',
  callerAgent: null,
  loop: null,
  model: null,
  tool: 'clock',
  callId: 'call_1',
  status: 'completed',
  firstEventId: 2,
  lastEventId: 9,
  files: [],
  attachments: [],
  arguments: null,
  shownArguments: null,
  guardrails: [],
  hidden: [],
  summary: null,
  stateChanges: null,
  handoff: null,
  usage: null,
  firstTokenMs: null,
  cost: null,
  error: null,
  tries: 1,
  answeredBy: null,
  continuedBy: null,
  startedAt: CREATED_AT,
  completedAt: COMPLETED_AT,
};

export const stepPrompt = {
  instructions: 'You are Concierge.',
  messages: [{ type: 'message', role: 'user', content: 'Which trains go to Rome?' }],
  tools: [],
  settings: { temperature: 0.2 },
  model: 'offline/demo',
  agencyVersion: '9f2c51d07ab3e846',
  exact: true,
};

const shortChat = {
  chatId: 'c1',
  aliasChatId: null,
  apiIntegrationId: 'demo',
  consumerId: 'user-42',
  status: 'idle',
  activeRunId: null,
  numMessages: 2,
  pending: [],
  createdAt: CREATED_AT,
  updatedAt: COMPLETED_AT,
};

export const chat = {
  ...shortChat,
  title: null,
  titlePreview: 'Which trains go to Rome?',
  forkedFrom: null,
  replacedBy: null,
  approvals: [],
  lastingAgent: null,
  transient: false,
  metadata: null,
};

export const chatStatus = { ...shortChat, chatDeleted: false, run: shortRun };

export const message = {
  messageId: 'msg_2',
  chatId: 'c1',
  runId: 'run_1',
  role: 'assistant',
  status: 'completed',
  agent: 'Concierge',
  content: 'Hello',
  attachments: [],
  sandboxFiles: [],
  calls: [],
  answers: [],
  error: null,
  createdAt: COMPLETED_AT,
};

export const askedQuestion = {
  questionId: 'qst_1',
  kind: 'approval',
  tool: 'refund',
  arguments: { invoice: 'A1', cents: 9900 },
  agent: 'Billing',
  apiIntegrationId: 'demo',
  chatId: 'c1',
  consumerId: 'user-42',
  runId: 'run_1',
  askedAt: CREATED_AT,
  state: 'open',
  decision: null,
  reason: null,
  changedArguments: null,
  remember: null,
  answeredBy: null,
};

export const allowanceSetting = { unit: 'tokens', limit: 100_000, period: 'month' };

export const member = {
  consumerId: 'user-42',
  name: 'Ann',
  active: true,
  metadata: { plan: 'pro' },
  ownLimit: null,
  allowance: {
    ...allowanceSetting,
    used: 17,
    reserved: 0,
    remaining: 99_983,
    periodStart: '2030-01-01T00:00:00.000Z',
    resetAt: '2030-02-01T00:00:00.000Z',
    exhausted: false,
  },
  folder: '/app/mnt/members/user-42',
  createdAt: CREATED_AT,
  updatedAt: CREATED_AT,
};

export const erasure = {
  consumerId: 'user-42',
  status: 'erasing',
  startedAt: CREATED_AT,
  finishedAt: null,
};

export const integration = {
  apiIntegrationId: 'demo',
  name: 'Demo',
  agency: 'demo',
  defaultAgent: 'Concierge',
  textOnly: false,
  allowances: allowanceSetting,
  onDisconnect: 'continue',
  maxRunSeconds: 900,
  maxRunsPerMember: null,
  keepAttachments: true,
  model: null,
  fileAccess: 'chat',
  memberFolder: '/app/mnt/members/{consumerId}',
  quotaBytes: null,
  memberQuotaBytes: null,
  clientTools: false,
  callerInstructions: false,
  autoRegister: false,
  compatibleApis: ['openai', 'ai-sdk', 'ag-ui', 'mcp', 'agency-swarm'],
  createdAt: CREATED_AT,
  updatedAt: CREATED_AT,
};

export const agency = {
  agency: 'demo',
  name: 'Demo',
  defaultAgent: 'Concierge',
  entryPoints: ['Concierge'],
  agents: [
    {
      name: 'Concierge',
      description: 'Answers questions.',
      model: 'offline/demo',
      fallback: [],
      tools: ['clock'],
      approval: [],
      editable: [],
      remember: [],
      conditional: [],
      sandbox: false,
      starters: [],
    },
  ],
  flows: [],
  source: 'bundled',
  version: '9f2c41d07be35a86',
  loadedAt: CREATED_AT,
  longChats: 'summarize',
  summaryModel: null,
  mcp: [],
  process: { state: 'none', pid: null, memoryBytes: null, restarts: 0, lastFault: null },
  error: null,
};

export const agencyDefinition = {
  agency: 'demo',
  version: '9f2c41d07be35a86',
  sharedInstructions: '',
  guardrails: [],
  agents: [
    {
      name: 'Concierge',
      instructions: 'You answer questions.',
      tools: [
        {
          name: 'clock',
          description: 'Returns the time.',
          inputSchema: { type: 'object', properties: {}, additionalProperties: false },
          server: null,
        },
      ],
      output: null,
      guardrails: [],
    },
  ],
};

export const file = {
  name: 'a.png',
  path: '/app/mnt/users/42/a.png',
  kind: 'file',
  size: 1024,
  etag: '"9e107d9d372bb6826bd81d3542a419d6"',
  contentType: 'image/png',
  modifiedAt: CREATED_AT,
};

export const adjustment = {
  kind: 'adjustment',
  adjustmentId: 'adj_1',
  consumerId: 'user-42',
  unit: 'tokens',
  amount: 500,
  applied: 500,
  reason: 'The answer was wrong.',
  idempotencyKey: 'ticket-7',
  periodStart: '2030-01-01T00:00:00.000Z',
  createdAt: CREATED_AT,
};

export const usageRecord = {
  kind: 'run',
  usageRequestId: 'req-1',
  consumerId: 'user-42',
  chatId: 'c1',
  runId: 'run_1',
  agent: 'Concierge',
  status: 'completed',
  usage,
  byModel: [{ model: 'offline/demo', input_tokens: 12, cached_tokens: 0, output_tokens: 5 }],
  charged: { unit: 'tokens', amount: 17 },
  rerun: false,
  firstTokenMs: 380,
  cost: { amount: 0.000475, currency: 'EUR' },
  periodStart: '2030-01-01T00:00:00.000Z',
  startedAt: CREATED_AT,
  completedAt: COMPLETED_AT,
};

export const schedule = {
  scheduleId: 'sch_1',
  name: 'Weekly',
  cron: '0 9 * * 1',
  everySeconds: null,
  at: null,
  timezone: 'Europe/Berlin',
  request: { message: 'Write the report for {{tick}}.', consumerId: 'user-42' },
  catchUp: 'latest',
  active: true,
  pausedReason: null,
  nextTickAt: '2030-01-07T08:00:00.000Z',
  createdAt: CREATED_AT,
  updatedAt: CREATED_AT,
};

export const scheduleTick = {
  tick: '2030-01-07T08:00:00.000Z',
  runId: 'run_1',
  code: null,
  error: null,
  at: '2030-01-07T08:00:00.120Z',
};

export const apiKey = {
  keyId: 'key_1',
  name: 'backend',
  role: 'developer',
  integrations: ['demo'],
  suffix: 'x7Kq2s',
  createdBy: { kind: 'person', id: 'own_1', name: 'Ann' },
  createdAt: CREATED_AT,
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
};

export const keyOfRequest = { keyId: 'key_1', name: 'backend', expiresAt: null, role: 'manager', integrations: null };

export const person = { personId: 'per_1', email: 'bo@example.com', name: 'Bo', role: 'operator' };

export const owner = {
  ownerId: 'own_1',
  email: 'ann@example.com',
  name: 'Ann',
  administrator: true,
};

export const node = {
  nodeId: 'node_1',
  boot: 'boot_1',
  state: 'alive',
  self: true,
  version: '0.1.0',
  host: 'app-1',
  address: '10.0.0.11:8787',
  startedAt: CREATED_AT,
  lastSeenAt: COMPLETED_AT,
  activeRuns: 3,
  stats: {
    openStreams: 4,
    admissions: { admitted: 90, replayed: 2, refused: { run_active: 1 } },
    eventLagMs: 12,
    writerQueue: 0,
  },
};

function frame(id: number, event: string | null, data: unknown): string {
  const name = event === null ? '' : `event: ${event}\n`;
  return `id: ${id}\n${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

const origin = { agent: 'Concierge', callerAgent: null };

/** A short stream; a real one has further model events and run items before `messages`. */
export const eventStream = [
  frame(1, 'meta', {
    run_id: 'run_1',
    chatId: 'c1',
    aliasChatId: null,
    usageRequestId: 'req-1',
    consumerId: 'user-42',
    agent: 'Concierge',
    createdAt: CREATED_AT,
  }),
  frame(5, null, {
    data: {
      type: 'raw_response_event',
      ...origin,
      data: {
        type: 'response.output_text.delta',
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta: 'Hello',
        sequence_number: 5,
      },
    },
  }),
  frame(11, 'messages', {
    run_id: 'run_1',
    chatId: 'c1',
    status: 'completed',
    new_messages: [
      { type: 'message', role: 'user', content: 'Hi', ...origin, timestamp: 1_893_488_400_000_000 },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
        ...origin,
        timestamp: 1_893_488_400_000_001,
      },
    ],
    usage,
    files: [],
    output: null,
    pending: [],
    error: null,
  }),
  frame(12, 'end', '[DONE]'),
].join('');

export const webhookEndpoint = {
  endpointId: 'whe_1',
  url: 'https://example.com/hook',
  events: ['run.completed'],
  description: null,
  active: true,
  disabledReason: null,
  failingSince: null,
  createdAt: CREATED_AT,
  updatedAt: CREATED_AT,
};

export const webhookDelivery = {
  deliveryId: 'whd_1',
  eventId: 'evt_1',
  type: 'run.completed',
  runId: 'run_1',
  status: 'delivered',
  attempts: 1,
  nextAttemptAt: null,
  lastStatus: 200,
  lastError: null,
  createdAt: CREATED_AT,
  deliveredAt: COMPLETED_AT,
};
