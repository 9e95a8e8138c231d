/** Names a request in the log. Spread into a log line's fields. */
export interface RequestTrace {
  /** What the caller got as `X-Request-Id`; null if the line belongs to a run that another process admitted. */
  readonly requestId: string | null;
  /** The caller's header, if W3C Trace Context allows its value. */
  readonly traceparent?: string;
}

/** For a run that another process admitted: its request's id is not stored. */
export const NO_TRACE: RequestTrace = { requestId: null };
