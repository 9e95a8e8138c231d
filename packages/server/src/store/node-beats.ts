/** A node that is alive for the others, and the beat that it was last seen with. */
export interface SeenBeat {
  readonly nodeId: string;
  readonly beat: number;
}

/** What one look at the database told. */
export interface BeatReport {
  /** By the monotonic clock, when it was begun: the database was in this state then or later. */
  readonly begunAt: number;
  /** As which node it was done. */
  readonly nodeId: string;
  /** Whether the own beat was raised with it. */
  readonly raised: boolean;
  /** Whether the others took this node for dead. */
  readonly dead: boolean;
  /** How many other nodes are alive. */
  readonly peers: number;
  /** Nodes whose beat has stood still for the length of a lease. */
  readonly silent: readonly SeenBeat[];
  /** Whether there are unfinished runs of nodes that are not alive. */
  readonly orphans: boolean;
}

/** Shows the other nodes that this one is alive, and watches them; beside the event loop, which may be busy. */
export interface NodeBeats extends AsyncDisposable {
  start(onReport: (report: BeatReport) => void): void;
  /** As which node it beats from now on; null: as none. */
  become(nodeId: string | null): void;
  /** From now on the others see that this node takes nothing new. */
  drain(): void;
  /** The event loop turns. Where it has not for long, the node beats no more. */
  live(): void;
  /** Beats now instead of at the next time. */
  hurry(): void;
}
