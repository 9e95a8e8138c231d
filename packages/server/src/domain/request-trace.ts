/** Names a request in the log. Spread into the fields of a log line. */
export interface RequestTrace {
  /** What the caller got as `X-Request-Id`; null if the line belongs to a run that another process admitted. */
  readonly requestId: string | null;
  /** The header of the caller, if W3C Trace Context allows its value. */
  readonly traceparent?: string;
}

/** For a run that another process admitted: the id of its request is not stored. */
export const NO_TRACE: RequestTrace = { requestId: null };
