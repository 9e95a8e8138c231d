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
    usedBytes: Type.Optional(Type.Integer({ description: 'mount_quota_exceeded: bytes of the stored files.' })),
    foreseenBytes: Type.Optional(
      Type.Integer({ description: 'mount_quota_exceeded: bytes with this upload and all open forms.' }),
    ),
    quotaBytes: Type.Optional(
      Type.Integer({ description: 'mount_quota_exceeded: bytes that the integration may have.' }),
    ),
  }),
);

/** Why a run, a message or a step failed. Always nullable where it stands, so it is copied in and has no name. */
export const failure = () => nullable(Type.Object({ code: Type.String(), message: Type.String() }));
