/** Names a request in the log. Spread into a log line's fields. */
export interface RequestTrace {
  /** What the caller got as `X-Request-Id`; null if the line belongs to a run that another process admitted. */
  readonly requestId: string | null;
  /** The caller's header, if W3C Trace Context allows its value. */
  readonly traceparent?: string;
  /** The id of the run's trace, as log lines have it. Present exactly if traces are exported. */
  readonly trace_id?: string;
}

/** For a run that another process admitted: its request's id is not stored. */
export const NO_TRACE: RequestTrace = { requestId: null };
