import { admittedResponses, notAdmittedAny } from '../admitted.ts';
import { ChatStatus } from '../chat.ts';
import { flag, ref, text } from '../kit.ts';
import {
  admissionPeriod,
  bodyRefusals,
  integrationParams,
  integrationPath,
  integrationRefusals,
  operation,
  pageQuery,
  refusals,
  searchWords,
} from '../operation.ts';
import { RerunRequest, RunComparison } from '../rerun.ts';
import { CancelResult, CancelRunRequest, Run, RunList, runStatus, StepList, StepPrompt } from '../run.ts';
import { streamEventSchemas } from '../stream.ts';
import { imageTypes } from '../tool-image.ts';
import { Type } from '../type.ts';
import { chatStatus, eventStream, integrationExample, json, page, run, step, stepPrompt, usage } from './examples.ts';

const runParams = Type.Object({ ...integrationParams, runId: text('Identifier of the run.') });
const runExample = { ...integrationExample, runId: 'run_1' };

export const getChatStatus = operation({
  operationId: 'getChatStatus',
  method: 'GET',
  path: `${integrationPath}/chat_status`,
  summary: "Read a chat's status",
  description: 'Send exactly one of `usageRequestId`, `chatId` and `aliasChatId`.',
  tags: ['Chats'],
  auth: true,
  clientToken: 'read',
  params: Type.Object(integrationParams),
  query: Type.Object({
    usageRequestId: Type.Optional(text("`usageRequestId` of one of the chat's runs.")),
    chatId: Type.Optional(text('Identifier of the chat.')),
    aliasChatId: Type.Optional(text('Alias of the chat.')),
  }),
  example: {
    params: integrationExample,
    query: { usageRequestId: 'req-1' },
    status: 200,
    answer: json(chatStatus),
  },
  responses: { 200: { description: 'The chat status.', schema: ref(ChatStatus) }, ...integrationRefusals() },
});

export const listRuns = operation({
  operationId: 'listRuns',
  method: 'GET',
  path: `${integrationPath}/runs`,
  summary: 'List runs, newest first',
  description: 'A run is listed if it matches all given filters.',
  tags: ['Runs'],
  auth: true,
  params: Type.Object(integrationParams),
  query: Type.Object({
    chatId: Type.Optional(text('Only runs of this chat.')),
    consumerId: Type.Optional(text('Only runs of this member.')),
    status: Type.Optional(runStatus('Only runs in this state.')),
    agent: Type.Optional(text('Only runs that were started at this agent.')),
    rerunOf: Type.Optional(text('Only reruns of this run.')),
    ...admissionPeriod,
    q: Type.Optional(searchWords()),
    texts: Type.Optional(flag('If false, runs have only the previews of their texts. The default is true.')),
    ...pageQuery,
  }),
  example: {
    params: integrationExample,
    query: {
      consumerId: 'user-42',
      status: 'completed',
      agent: 'Concierge',
      from: '2030-01-01T00:00:00Z',
      q: 'refund',
      texts: true,
      limit: 50,
    },
    status: 200,
    answer: page(run),
  },
  responses: { 200: { description: 'A page of runs.', schema: ref(RunList) }, ...integrationRefusals() },
});

export const getRun = operation({
  operationId: 'getRun',
  method: 'GET',
  path: `${integrationPath}/runs/:runId`,
  summary: 'Read a run',
  tags: ['Runs'],
  auth: true,
  clientToken: 'read',
  params: runParams,
  example: { params: runExample, status: 200, answer: json(run) },
  responses: { 200: { description: 'The run.', schema: ref(Run) }, ...integrationRefusals() },
});

export const getRunEvents = operation({
  operationId: 'getRunEvents',
  method: 'GET',
  path: `${integrationPath}/runs/:runId/events`,
  summary: 'Stream the events of a run',
  description:
    'Sends the events of the run after `Last-Event-ID` or `after`, always as server-sent events: live while the run is ' +
    'active, complete after it has ended.',
  tags: ['Runs'],
  auth: true,
  clientToken: 'read',
  params: runParams,
  query: Type.Object({
    after: Type.Optional(text('An event id, an integer ≥ 0. `Last-Event-ID` takes precedence over it.')),
  }),
  headers: Type.Object({
    'last-event-id': Type.Optional(text('The last event id that the reader has seen.')),
  }),
  example: {
    params: runExample,
    query: { after: '0' },
    status: 200,
    answer: { 'text/event-stream': eventStream },
  },
  responses: {
    200: {
      description: 'The events.',
      schema: text('The events of the run.'),
      events: streamEventSchemas,
      contentTypes: ['text/event-stream'],
      headers: { 'X-Run-Id': text('Identifier of the run.') },
    },
    204: { description: 'The cursor is at or after the end of the run: no event will follow.' },
    ...integrationRefusals(),
    ...refusals(410),
    429: { ...refusals(429)[429], description: 'Too many streams are open.' },
  },
});

export const getRunAttachment = operation({
  operationId: 'getRunAttachment',
  method: 'GET',
  path: `${integrationPath}/runs/:runId/attachments/:attachmentId`,
  summary: 'Read an image that a tool of a run returned',
  description: '`Content-Disposition` is always `attachment`. The images of a run are deleted with its steps.',
  tags: ['Runs'],
  auth: true,
  clientToken: 'read',
  params: Type.Object({
    ...integrationParams,
    runId: text('Identifier of the run.'),
    attachmentId: text('Identifier of the attachment.'),
  }),
  example: {
    params: { ...runExample, attachmentId: 'att_1' },
    status: 200,
    answer: { 'image/png': 'The bytes of the image' },
  },
  responses: {
    200: {
      description: 'The bytes.',
      schema: text('The bytes.', { format: 'binary' }),
      contentTypes: [...imageTypes],
      headers: { 'Content-Disposition': text('`attachment`, with a file name.') },
    },
    ...integrationRefusals(),
  },
});

export const cancelRun = operation({
  operationId: 'cancelRun',
  method: 'POST',
  path: `${integrationPath}/runs/:runId/cancel`,
  summary: 'Cancel exactly this run',
  tags: ['Runs'],
  auth: true,
  clientToken: 'run',
  params: runParams,
  body: ref(CancelRunRequest),
  bodyOptional: true,
  example: {
    params: runExample,
    body: { mode: 'immediate' },
    status: 200,
    answer: json({ runId: 'run_1', chatId: 'c1', status: 'cancelled', cancelled: true, usage }),
  },
  responses: {
    200: { description: 'The run has stopped.', schema: ref(CancelResult) },
    202: {
      description: 'The run has not stopped within 10 s; the server continues to cancel it.',
      schema: ref(CancelResult),
    },
    ...integrationRefusals(),
    ...bodyRefusals(),
  },
});

export const listRunSteps = operation({
  operationId: 'listRunSteps',
  method: 'GET',
  path: `${integrationPath}/runs/:runId/steps`,
  summary: 'List the steps of a run, newest first',
  description:
    'A step is one answer of the model or one call of a tool. Calls that failed, were cut or wait for an answer are listed ' +
    'too.',
  tags: ['Runs'],
  auth: true,
  clientToken: 'read',
  params: runParams,
  query: Type.Object(pageQuery),
  example: { params: runExample, query: { limit: 50 }, status: 200, answer: page(step) },
  responses: { 200: { description: 'A page of steps.', schema: ref(StepList) }, ...integrationRefusals() },
});

export const getStepPrompt = operation({
  operationId: 'getStepPrompt',
  method: 'GET',
  path: `${integrationPath}/runs/:runId/steps/:step/prompt`,
  summary: 'Read what a model was sent in a step',
  description:
    'The prompt is rebuilt from what is stored. No code of the agency is run: what a function made is null. `user_context` is ' +
    'deleted when a run ends, so its placeholders are not filled in.',
  tags: ['Runs'],
  auth: true,
  params: Type.Object({
    ...integrationParams,
    runId: text('Identifier of the run.'),
    step: Type.Integer({ minimum: 1, maximum: 1e9, description: 'Number of a step whose `kind` is `model`.' }),
  }),
  example: { params: { ...runExample, step: 1 }, status: 200, answer: json(stepPrompt) },
  responses: { 200: { description: 'The prompt.', schema: ref(StepPrompt) }, ...integrationRefusals() },
});

export const rerunRun = operation({
  operationId: 'rerunRun',
  method: 'POST',
  path: `${integrationPath}/runs/:runId/rerun`,
  summary: 'Run a run again',
  description:
    'Starts a run in a fork of the chat that ends before the run, and streams it like `POST /get_completion_v2`. The original ' +
    'chat is not changed. The rerun is charged to no member.',
  tags: ['Runs'],
  auth: true,
  params: runParams,
  body: ref(RerunRequest),
  bodyOptional: true,
  example: {
    params: runExample,
    body: { afterStep: 1, model: 'openai/gpt-5-mini' },
    status: 200,
    answer: { 'text/event-stream': eventStream, 'text/plain': 'Hello' },
  },
  responses: {
    ...admittedResponses(),
    ...notAdmittedAny({ ...integrationRefusals(), ...bodyRefusals(), ...refusals(409, 429) }),
  },
});

export const compareRuns = operation({
  operationId: 'compareRuns',
  method: 'GET',
  path: `${integrationPath}/runs/:runId/compare`,
  summary: 'Compare two runs, step by step',
  description:
    'Both runs must belong to the integration. Steps that are only shown, such as cut calls, are compared too.',
  tags: ['Runs'],
  auth: true,
  params: runParams,
  query: Type.Object({ with: text('Identifier of the other run.') }),
  example: {
    params: runExample,
    query: { with: 'run_2' },
    status: 200,
    answer: json({
      runs: [run, { ...run, runId: 'run_2' }],
      steps: [{ left: step, right: { ...step, model: 'openai/gpt-5-mini' }, change: 'equal' }],
      text: { left: 'Hello', right: 'Hello.' },
      usage: { left: usage, right: usage },
    }),
  },
  responses: {
    200: { description: 'The comparison.', schema: ref(RunComparison) },
    ...integrationRefusals(),
  },
});
