/** Figures of one process, for the list of nodes. */
export interface NodeStats {
  readonly openStreams: number;
  /** Completion requests since the start of the process. */
  readonly admissions: {
    readonly admitted: number;
    readonly replayed: number;
    /** By the refusal's code. */
    readonly refused: Readonly<Record<string, number>>;
  };
  /** The longest time from an event until it was stored, of the last seconds. */
  readonly eventLagMs: number;
  /** Transactions that wait for the writer. */
  readonly writerQueue: number;
}
