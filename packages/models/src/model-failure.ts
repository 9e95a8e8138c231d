/**
 * Why a model gave no whole answer: `unavailable` if its provider refused the call, was silent, overloaded or out of
 * reach; `cut_short` if the answer reached a token limit.
 */
export type ModelProblem = 'unavailable' | 'cut_short';

export interface FailureOptions extends ErrorOptions {
  readonly providerStatus?: number;
  readonly problem?: ModelProblem;
}

/**
 * A call of a model gave no whole answer. The message is a sentence for people. A class with more codes can extend it: what
 * `PromptAttachment.read` rejects with passes through every model if it is of this class.
 */
export class ModelFailure<Code extends string = 'model_error' | 'model_timeout'> extends Error {
  override readonly name: string = 'ModelFailure';
  readonly code: Code;
  /** The HTTP status with which the model's provider refused the call; null if it did not refuse. Used for the log. */
  readonly providerStatus: number | null;

  readonly problem: ModelProblem | null;

  constructor(code: Code, sentence: string, options: FailureOptions = {}) {
    super(sentence, options);
    this.code = code;
    this.providerStatus = options.providerStatus ?? null;
    this.problem = options.problem ?? null;
  }
}
