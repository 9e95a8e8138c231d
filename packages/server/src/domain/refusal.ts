import { type ErrorCode, errors } from '@runwire/contract';

/** A request turned down: thrown by whoever decides, turned into an answer by `http/` alone. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  /** Fields that stand beside `error` and `code` in the answer. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | null;

  constructor(
    code: ErrorCode,
    sentence: string = errors[code].sentence,
    details: Readonly<Record<string, unknown>> = {},
    retryAfterSeconds: number | null = null,
  ) {
    super(sentence);
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
