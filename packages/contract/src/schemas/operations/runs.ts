import { ChatStatus } from '../chat.ts';
import { ref } from '../kit.ts';
import { bodyRefusals, integrationPath, integrationRefusals, operation, pageQuery, refusals } from '../operation.ts';
import { CancelResult, CancelRunRequest, Run, RunList, runStatus, StepList } from '../run.ts';
import { Type } from '../type.ts';

const integrationParams = Type.Object({ apiIntegrationId: Type.String() });
const runParams = Type.Object({ apiIntegrationId: Type.String(), runId: Type.String() });

export const getChatStatus = operation({
  operationId: 'getChatStatus',
  method: 'GET',
  path: `${integrationPath}/chat_status`,
  summary: 'Read the status of a chat',
  description: 'Takes exactly one of `usageRequestId`, `chatId` and `aliasChatId`.',
  tags: ['Chats'],
  auth: true,
  params: integrationParams,
  query: Type.Object({
    usageRequestId: Type.Optional(Type.String()),
    chatId: Type.Optional(Type.String()),
    aliasChatId: Type.Optional(Type.String()),
  }),
  responses: { 200: { description: 'The chat status.', schema: ref(ChatStatus) }, ...integrationRefusals() },
});

export const listRuns = operation({
  operationId: 'listRuns',
  method: 'GET',
  path: `${integrationPath}/runs`,
  summary: 'List runs, newest first',
  tags: ['Runs'],
  auth: true,
  params: integrationParams,
  query: Type.Object({
    chatId: Type.Optional(Type.String()),
    consumerId: Type.Optional(Type.String()),
    status: Type.Optional(runStatus()),
    ...pageQuery,
  }),
  responses: { 200: { description: 'A page of runs.', schema: ref(RunList) }, ...integrationRefusals() },
});

export const getRun = operation({
  operationId: 'getRun',
  method: 'GET',
  path: `${integrationPath}/runs/:runId`,
  summary: 'Read a run',
  tags: ['Runs'],
  auth: true,
  params: runParams,
  responses: { 200: { description: 'The run.', schema: ref(Run) }, ...integrationRefusals() },
});

export const getRunEvents = operation({
  operationId: 'getRunEvents',
  method: 'GET',
  path: `${integrationPath}/runs/:runId/events`,
  summary: 'Stream the events of a run',
  description:
    'The stream of the run again, always as server-sent events, after `Last-Event-ID` or `after`: live while it runs, ' +
    'complete after it ended.',
  tags: ['Runs'],
  auth: true,
  params: runParams,
  query: Type.Object({
    after: Type.Optional(Type.String({ description: 'An event id, an integer ≥ 0. `Last-Event-ID` beats it.' })),
  }),
  headers: Type.Object({ 'last-event-id': Type.Optional(Type.String()) }),
  responses: {
    200: {
      description: 'The events.',
      schema: Type.String(),
      contentTypes: ['text/event-stream'],
      headers: { 'X-Run-Id': Type.String({ description: 'The run.' }) },
    },
    204: { description: 'The cursor is at or after the end of the run: nothing will follow.' },
    ...integrationRefusals(),
    ...refusals(410),
  },
});

export const cancelRun = operation({
  operationId: 'cancelRun',
  method: 'POST',
  path: `${integrationPath}/runs/:runId/cancel`,
  summary: 'Cancel exactly this run',
  tags: ['Runs'],
  auth: true,
  params: runParams,
  body: ref(CancelRunRequest),
  bodyOptional: true,
  responses: {
    200: { description: 'The run has stopped.', schema: ref(CancelResult) },
    202: { description: 'The run has not stopped within 10 s; it is being cancelled.', schema: ref(CancelResult) },
    ...integrationRefusals(),
    ...bodyRefusals(),
  },
});

export const listRunSteps = operation({
  operationId: 'listRunSteps',
  method: 'GET',
  path: `${integrationPath}/runs/:runId/steps`,
  summary: 'List the finished steps of a run, newest first',
  description: 'A step is one answer of the model or one call of a tool.',
  tags: ['Runs'],
  auth: true,
  params: runParams,
  query: Type.Object(pageQuery),
  responses: { 200: { description: 'A page of steps.', schema: ref(StepList) }, ...integrationRefusals() },
});
