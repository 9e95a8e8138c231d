import { failure } from './error.ts';
import { count, listOf, named, nullable, oneOfStrings, strictObject, time } from './kit.ts';
import { Type } from './type.ts';
import { Usage } from './usage.ts';

export const runStatus = () => oneOfStrings(['admitted', 'running', 'completed', 'failed', 'cancelled']);
const cancelMode = () => oneOfStrings(['immediate', 'after_step']);

export const Run = named(
  'Run',
  Type.Object({
    runId: Type.String(),
    apiIntegrationId: Type.String(),
    chatId: Type.String(),
    chatDeleted: Type.Boolean(),
    consumerId: nullable(Type.String()),
    usageRequestId: nullable(Type.String()),
    status: runStatus(),
    cancelRequested: nullable(cancelMode()),
    agent: Type.String(),
    attempt: Type.Integer({ minimum: 1 }),
    lastEventId: count(),
    createdAt: time(),
    startedAt: nullable(time()),
    completedAt: nullable(time()),
    error: failure(),
    message: nullable(Type.String({ description: 'The final assistant text.' })),
    usage: nullable(Usage),
  }),
);

export const RunList = listOf('RunList', Run);

export const CancelRunRequest = named('CancelRunRequest', strictObject({ mode: Type.Optional(cancelMode()) }));

export const CancelResult = named(
  'CancelResult',
  Type.Object({
    runId: Type.String(),
    chatId: Type.String(),
    status: oneOfStrings(['cancelling', 'completed', 'failed', 'cancelled']),
    cancelled: Type.Boolean({ description: 'True exactly when `status` is `cancelled`.' }),
    usage: nullable(Usage),
  }),
);

export const Step = named(
  'Step',
  Type.Object({
    step: Type.Integer({ minimum: 1 }),
    attempt: Type.Integer({ minimum: 1 }),
    kind: oneOfStrings(['model', 'tool']),
    agent: Type.String(),
    callerAgent: nullable(Type.String()),
    model: nullable(Type.String()),
    tool: nullable(Type.String()),
    callId: nullable(Type.String()),
    status: oneOfStrings(['completed', 'failed']),
    firstEventId: count(),
    lastEventId: count(),
    usage: nullable(Usage),
    error: failure(),
    startedAt: time(),
    completedAt: time(),
  }),
);

export const StepList = listOf('StepList', Step);
