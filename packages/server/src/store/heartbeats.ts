/** A living node and the heartbeat that was last read of it. */
export interface SeenHeartbeat {
  readonly nodeId: string;
  readonly beat: number;
}

/** The result of one read of the nodes and their heartbeats. */
export interface HeartbeatReport {
  /** The time by the monotonic clock at which the read began: the database was in this state then or later. */
  readonly begunAt: number;
  /** The node that read. */
  readonly nodeId: string;
  /** True if this read also raised this node's heartbeat. */
  readonly raised: boolean;
  /** True if another node has marked this node as dead. */
  readonly dead: boolean;
  /** The number of other living nodes. */
  readonly peers: number;
  /** Nodes whose heartbeat did not change for a lease's length. */
  readonly silent: readonly SeenHeartbeat[];
  /** True if nodes that are not alive have unfinished runs. */
  readonly orphans: boolean;
}

/** Raises the heartbeat of this node and watches the other nodes. It runs beside the event loop, which can be busy. */
export interface Heartbeats extends AsyncDisposable {
  start(onReport: (report: HeartbeatReport) => void): void;
  /** Sets the node whose heartbeat is raised from now on. With null, no heartbeat is raised. */
  setNode(nodeId: string | null): void;
  /** Shows the other nodes from now on that this node accepts no new runs. */
  drain(): void;
  /** Call this regularly from the event loop. If it is not called for long, the heartbeats stop. */
  keepAlive(): void;
  /** Sets the figures that the next heartbeats store, as JSON. */
  setStats(statsJson: string): void;
  /** Raises the heartbeat now instead of at the next regular time. */
  raiseNow(): void;
}
