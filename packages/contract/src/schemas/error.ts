import { named, nullable, text, time } from './kit.ts';
import { Type } from './type.ts';

export const ApiErrorResponse = named(
  'ApiErrorResponse',
  Type.Object(
    {
      error: text('What was wrong and what to do, for a person.'),
      code: Type.Optional(nullable(text('Machine-readable code.'))),
      runId: Type.Optional(
        text('`run_active`: the active run. `usage_request_id_reused`: the run that used the id before.'),
      ),
      usageRequestId: Type.Optional(nullable(text('`run_active`: the usage request id of the active run.'))),
      chatId: Type.Optional(text('`run_active`: the chat of the active run.')),
      resetAt: Type.Optional(
        nullable(time('`consumer_allowance_exhausted`: when the next period begins. Null for a lifetime allowance.')),
      ),
      usedBytes: Type.Optional(Type.Integer({ description: '`mount_quota_exceeded`: bytes of the stored files.' })),
      foreseenBytes: Type.Optional(
        Type.Integer({ description: '`mount_quota_exceeded`: bytes with this upload and all open forms.' }),
      ),
      quotaBytes: Type.Optional(
        Type.Integer({ description: '`mount_quota_exceeded`: bytes that the integration may have.' }),
      ),
    },
    { description: 'Every error answer has this shape.' },
  ),
);

/** A failure's reason. It is always nullable, and a nullable schema cannot be a reference, so it has no name. */
export const failure = (description: string) =>
  nullable(
    Type.Object(
      { code: text('Machine-readable code.'), message: text('What was wrong and what to do, for a person.') },
      { description },
    ),
  );
