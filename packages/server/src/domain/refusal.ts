import { type ErrorCode, errors } from '@runwire/contract';

/** A refused request. Only `http/` turns it into an answer. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  /** Fields of the answer besides `error` and `code`. */
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
