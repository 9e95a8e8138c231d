import { named, nullable, time } from './kit.ts';
import { Type } from './type.ts';

export const ApiErrorResponse = named(
  'ApiErrorResponse',
  Type.Object({
    error: Type.String({ description: 'What was wrong and what to do, for a person.' }),
    code: Type.Optional(nullable(Type.String({ description: 'Machine-readable code.' }))),
    runId: Type.Optional(Type.String({ description: 'run_active, usage_request_id_reused: the run meant.' })),
    usageRequestId: Type.Optional(
      nullable(Type.String({ description: 'run_active: the usage request id of the active run.' })),
    ),
    chatId: Type.Optional(Type.String({ description: 'run_active: the chat of the active run.' })),
    resetAt: Type.Optional(
      nullable(
        time({
          description: 'consumer_allowance_exhausted: when the next period begins; null for a lifetime allowance.',
        }),
      ),
    ),
  }),
);

/** Why a run, a message or a step failed. Always nullable where it stands, so it is copied in and has no name. */
export const failure = () => nullable(Type.Object({ code: Type.String(), message: Type.String() }));
