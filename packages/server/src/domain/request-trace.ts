/** Names a request in the log. Spread into the fields of a log line. */
export interface RequestTrace {
  /** What the caller got as `X-Request-Id`; null if the line belongs to a run that another process admitted. */
  readonly requestId: string | null;
  /** The caller's, if it sent one that W3C's Trace Context allows. */
  readonly traceparent?: string;
}

/** For a run that another process admitted: which request that was is not stored. */
export const NO_TRACE: RequestTrace = { requestId: null };
