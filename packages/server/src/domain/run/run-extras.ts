/** What a request adds to its own run, stored with the run. A takeover reads it. */
export interface RunExtras {
  /** Follow the instructions of the root agent. Null if the request has none. */
  readonly instructions: string | null;
  /** The JSON Schema of the root agent's answer. Null if the request has none. */
  readonly outputSchema: Readonly<Record<string, unknown>> | null;
  /** Returned as it was sent. Null if the request has none. */
  readonly metadata: Readonly<Record<string, string>> | null;
}

export const NO_EXTRAS: RunExtras = { instructions: null, outputSchema: null, metadata: null };
