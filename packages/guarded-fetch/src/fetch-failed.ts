export type FetchFailure =
  | 'refused'
  | 'unresolved'
  | 'unreachable'
  | 'status'
  | 'too_large'
  | 'too_slow'
  | 'redirects'
  | 'broken';

export interface FetchFailedOptions {
  readonly status?: number;
  readonly isFinal?: boolean;
}

/** The message is the end of a sentence about the URL. It contains no address and nothing of a query. */
export class FetchFailed extends Error {
  override readonly name = 'FetchFailed';
  readonly kind: FetchFailure;
  /** The status that the server answered, if the status is the reason. */
  readonly status: number | null;
  /** True if neither a retry nor a fresh link can help. The message then ends with what can. */
  readonly isFinal: boolean;

  constructor(kind: FetchFailure, why: string, options: FetchFailedOptions = {}) {
    super(`could not be fetched: ${why}`);
    this.kind = kind;
    this.status = options.status ?? null;
    this.isFinal = options.isFinal ?? false;
  }
}

/** A failure that neither a retry nor a fresh link can fix. `whatToDo` ends the sentence. */
export const finalFailure = (kind: FetchFailure, why: string, whatToDo: string): FetchFailed =>
  new FetchFailed(kind, `${why}; ${whatToDo}`, { isFinal: true });
