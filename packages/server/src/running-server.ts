/** A composed server: what its process, tests and proofs can do with it. */
export interface RunningServer extends AsyncDisposable {
  /**
   * Takes no new run, and resolves when all that runs or is read has ended, or when its time is over. Where other nodes
   * can take them, runs that are longer are handed over first, each at the end of its step.
   */
  drain(): Promise<void>;
  /** Where it listens. */
  readonly url: string;
  /** Where it shows its metrics without a key; null: nowhere. */
  readonly metricsUrl: string | null;
  /** Shown once, at the first start. */
  readonly apiKey: string | null;
  readonly isFirstStart: boolean;
  /** Runs that the last stop left unfinished: those that go on, and those that were ended. */
  readonly resumedRuns: number;
  readonly endedRuns: number;
  readonly probes: {
    readonly activeRuns: () => number;
    readonly openStreams: () => number;
    readonly fullStreams: () => number;
    readonly unstoredBytes: () => number;
    /** Of bodies that are being read or parsed, and of images that are not stored yet. */
    readonly heldBodyBytes: () => number;
    /** Reserved for attachments that are being fetched or read. */
    readonly attachmentsBytes: () => number;
    readonly syncMs: number;
    /** Compacts at once what is old enough; resolves to how many runs that were. */
    readonly sweepEvents: () => Promise<number>;
    /** Deletes at once the stored files that nothing has referred to long enough; resolves to how many. */
    readonly sweepBlobs: () => Promise<number>;
    /** Deletes at once the files of integrations that were deleted long enough ago, and left-overs; resolves to how many. */
    readonly sweepMounts: () => Promise<number>;
    /** Forgets at once the nodes that have been gone long enough; resolves to how many. */
    readonly sweepNodes: () => Promise<number>;
    /** Forgets at once the upload forms that expired long enough ago; resolves to how many. */
    readonly sweepForms: () => Promise<number>;
  };
}
