import type { RunErrorCode } from './run-state.ts';

/** A run cannot be completed. The message is the sentence for its reader. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure';
  readonly code: RunErrorCode;
  /** The HTTP status with which the model's provider refused the call; null if it did not refuse. Used for the log. */
  readonly providerStatus: number | null;

  constructor(code: RunErrorCode, sentence: string, options: ErrorOptions & { readonly providerStatus?: number } = {}) {
    super(sentence, options);
    this.code = code;
    this.providerStatus = options.providerStatus ?? null;
  }
}
