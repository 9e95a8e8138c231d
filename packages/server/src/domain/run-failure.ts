import type { RunErrorCode } from './run-state.ts';

/**
 * Why a model gave no whole answer: `unavailable` if its provider refused the call, was silent, overloaded or out of
 * reach; `cut_short` if the answer reached a token limit.
 */
export type ModelProblem = 'unavailable' | 'cut_short';

interface FailureOptions extends ErrorOptions {
  readonly providerStatus?: number;
  readonly problem?: ModelProblem;
}

/** A run cannot be completed. The message is the sentence for its reader. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure';
  readonly code: RunErrorCode;
  /** The HTTP status with which the model's provider refused the call; null if it did not refuse. Used for the log. */
  readonly providerStatus: number | null;

  readonly problem: ModelProblem | null;

  constructor(code: RunErrorCode, sentence: string, options: FailureOptions = {}) {
    super(sentence, options);
    this.code = code;
    this.providerStatus = options.providerStatus ?? null;
    this.problem = options.problem ?? null;
  }
}
