import type { ErrorCode, Question } from '@runwire/contract';
import { parseObject } from './json.ts';
import type { RunHandle, RunResult } from './run-types.ts';

/** Codes of errors that this package raises itself. */
export type ClientErrorCode =
  | 'connection_lost'
  | 'detached'
  | 'questions_pending'
  | 'run_cancelled'
  | 'upload_failed'
  | 'unexpected_answer'
  | 'webhook_not_verified';

/** True if the request reserved a run. `unknown`: no answer tells. Null if the request does not start a run. */
export type AdmissionState = boolean | 'unknown' | null;

export interface ErrorFields {
  readonly code: ErrorCode | ClientErrorCode;
  readonly message: string;
  /** The answer's status. Null if there was no answer, or if the error was in the stream. */
  readonly status?: number | null;
  /** Names the request in the server's log. */
  readonly requestId?: string | null;
  readonly admitted?: AdmissionState;
  /** After how many seconds the same request may succeed. */
  readonly retryAfterSeconds?: number | null;
  /** The whole JSON of the answer. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Codes that are retryable whatever their status, in the order of the error table. */
const RETRYABLE =
  /^(run_active|mount_quota_exceeded|erasure_running|internal_error|model_error|model_timeout|answer_restarted|run_interrupted|connection_lost)$/;

/**
 * True if the same request may succeed later. For a code in the stream: with a new `usageRequestId`. An allowance without
 * a `resetAt` is never reset.
 */
const isRetryable = ({ code, status, body }: Omit<ErrorFields, 'message'>): boolean =>
  RETRYABLE.test(code) ||
  status === 408 ||
  (status === 429 && code !== 'consumer_inactive' && body?.resetAt !== null) ||
  (status ?? 0) >= 500;

/** Every error of this package. */
export class RunwireError extends Error {
  declare readonly code: ErrorCode | ClientErrorCode;
  declare readonly status: number | null;
  declare readonly requestId: string | null;
  declare readonly retryable: boolean;
  declare readonly admitted: AdmissionState;
  declare readonly retryAfterSeconds: number | null;
  declare readonly body: Readonly<Record<string, unknown>>;

  constructor({ message, cause, ...fields }: ErrorFields) {
    super(message, { cause });
    const absent = { status: null, requestId: null, admitted: null, retryAfterSeconds: null, body: {} };
    Object.assign(this, absent, fields, { name: new.target.name, retryable: isRetryable(fields) });
  }
}

/** The request is wrong: correct it. */
export class InvalidRequestError extends RunwireError {}
export const invalidRequest = (message: string) =>
  new InvalidRequestError({ code: 'invalid_request', message, admitted: false });
/** The key or the token is missing, expired, revoked or not valid. */
export class AuthenticationError extends RunwireError {}
/** The key or the token does not permit this. */
export class ForbiddenError extends RunwireError {}
export class NotFoundError extends RunwireError {}
/** The request conflicts with what is stored. */
export class ConflictError extends RunwireError {}

/** The chat has an active run: wait for it, or cancel exactly that run. */
export class RunActiveError extends RunwireError {
  /** The active run. */
  get runId(): string {
    return String(this.body.runId);
  }
}

/** The member is not active. */
export class MemberInactiveError extends RunwireError {}

/** The member has used up its allowance. */
export class AllowanceExhaustedError extends RunwireError {
  /** When the allowance is reset. Null if it is never reset. */
  get resetAt(): string | null {
    return (this.body.resetAt ?? null) as string | null;
  }
}

/** Too many runs or requests: send less concurrently. */
export class RateLimitError extends RunwireError {}
/** The server failed or cannot take the request now. */
export class ServerError extends RunwireError {}
/** The events after the cursor were compacted: attach without a cursor. */
export class CursorTooOldError extends RunwireError {}
/** The storage refused the file, or could not be reached. */
export class UploadError extends RunwireError {}

/** A run that ended without success. `result` has the text so far. */
class UnsuccessfulRunError extends RunwireError {
  declare readonly result: RunResult;
  constructor(result: RunResult, code: ErrorCode | ClientErrorCode, message: string) {
    const fields = { code, message, admitted: true, result };
    super(fields);
  }
}

/** The run ended as failed. `result` has the text so far. */
export class RunFailedError extends UnsuccessfulRunError {}
/** The run ended as cancelled. `result` has the text so far. */
export class RunCancelledError extends UnsuccessfulRunError {}
/** The run waits for answers. The next request in its chat answers. */
export class QuestionsPendingError extends UnsuccessfulRunError {
  /** The open questions. */
  get pending(): readonly Question[] {
    return this.result.pending;
  }
}

/** The reading stopped before its end. If it read a run, the run may continue: attach to it by its handle later. */
class StoppedReaderError extends RunwireError {
  /** Null if the call was not about a run. */
  declare readonly handle: RunHandle | null;
  constructor(handle: RunHandle | null, code: ClientErrorCode, message: string, cause?: unknown) {
    const fields = { code, message, cause, handle };
    super({ ...fields, admitted: handle && (handle.runId === null ? 'unknown' : true) });
  }
}

/** No contact with the server for too long. The run may continue. */
export class ConnectionLostError extends StoppedReaderError {}
/** `detach()` ended the reading. The run continues. */
export class DetachedError extends StoppedReaderError {
  declare readonly handle: RunHandle;
}

type RefusalClass = new (fields: ErrorFields) => RunwireError;

/** Codes whose class does not follow from the status. */
const BY_CODE: Readonly<Partial<Record<ErrorCode, RefusalClass>>> = {
  run_active: RunActiveError,
  consumer_inactive: MemberInactiveError,
  consumer_allowance_exhausted: AllowanceExhaustedError,
  cursor_too_old: CursorTooOldError,
  request_timeout: ServerError,
};

const BY_STATUS: Readonly<Record<number, RefusalClass>> = {
  401: AuthenticationError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
};

const MAX_FOREIGN_CHARACTERS = 200;

/**
 * Reads the error of an answer that is no success. An answer of another program has the code `unexpected_answer`.
 * Rejects if the answer is cut.
 */
export async function errorOfAnswer(answer: Response): Promise<RunwireError> {
  const text = await answer.text();
  const body = parseObject(text);
  const { status, headers } = answer;
  const header = headers.get('x-agent-run-admitted');
  const isOurs = typeof body.code === 'string' && typeof body.error === 'string';
  const code = isOurs ? (body.code as ErrorCode) : 'unexpected_answer';
  // The class fits the code and the status.
  const byStatus = BY_STATUS[status] ?? (status >= 500 ? ServerError : InvalidRequestError);
  return new (BY_CODE[code as ErrorCode] ?? byStatus)({
    code,
    message: isOurs
      ? (body.error as string)
      : `Status ${status}, not from a Runwire server; check \`baseUrl\` and proxies: ${foreignText(body.error, text)}`,
    status,
    requestId: headers.get('x-request-id'),
    admitted: header === null ? null : header === 'true',
    retryAfterSeconds: Number(headers.get('retry-after')) || null,
    body,
  });
}

/** What another server reports: its `error`, or the message in it, or its answer's start. */
function foreignText(error: unknown, answer: string): string {
  const { message = error } = Object(error);
  return (typeof message === 'string' ? message : answer).slice(0, MAX_FOREIGN_CHARACTERS);
}
