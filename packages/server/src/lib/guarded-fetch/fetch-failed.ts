export type FetchFailure =
  | 'refused'
  | 'unresolved'
  | 'unreachable'
  | 'status'
  | 'too_large'
  | 'too_slow'
  | 'redirects'
  | 'broken';

/** The message is the end of a sentence about what was to be fetched. It names no address, and nothing of a query. */
export class FetchFailed extends Error {
  override readonly name = 'FetchFailed';
  readonly kind: FetchFailure;
  /** What the server answered; null: nothing, or nothing that matters. */
  readonly status: number | null;

  constructor(kind: FetchFailure, why: string, status: number | null = null) {
    super(`could not be fetched: ${why}`);
    this.kind = kind;
    this.status = status;
  }
}
