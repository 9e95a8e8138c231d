import { setTimeout as sleep } from 'node:timers/promises';
import { StartRefused } from '../domain/start-refused.ts';
import { monotonicMs } from '../lib/monotonic.ts';
import { HeartbeatWatch } from '../store/heartbeat-watch.ts';
import type { SeenHeartbeat } from '../store/heartbeats.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface OtherNodesOptions {
  readonly leaseMs: number;
  readonly beatMs: number;
  readonly logger: Logger;
}

export interface ListedNode {
  readonly nodeId: string;
  /** Null if the node is of an earlier version that sends no heartbeats. */
  readonly beat: number | null;
}

/**
 * The nodes that are listed as alive when a node starts that must be the only one. A listed node may have crashed a moment
 * ago, so the start watches its heartbeat. If the heartbeat continues, the node is alive and the start is refused.
 */
export class OtherNodes {
  readonly #list: () => Promise<readonly ListedNode[]>;
  readonly #options: OtherNodesOptions;
  readonly #closed: AbortSignal | undefined;
  readonly #watch: HeartbeatWatch;
  readonly #firstBeats = new Map<string, number>();
  #hasLooked = false;

  constructor(list: () => Promise<readonly ListedNode[]>, options: OtherNodesOptions, closed?: AbortSignal) {
    this.#list = list;
    this.#options = options;
    this.#closed = closed;
    this.#watch = new HeartbeatWatch(options.leaseMs, (options.leaseMs * 3) / 8);
  }

  /** Resolves to the listed nodes when all of them have been silent for the length of a lease. */
  async silent(): Promise<readonly SeenHeartbeat[]> {
    for (;;) {
      if (this.#hasLooked) await this.#pause();
      this.#hasLooked = true;
      const askedAt = monotonicMs();
      const others = (await this.#list()).map((node) => this.#checkSilent(node));
      const silent = this.#watch.observe(askedAt, monotonicMs(), others);
      if (silent.length === others.length) return silent;
    }
  }

  #checkSilent({ nodeId, beat }: ListedNode): SeenHeartbeat {
    if (beat === null) throw nodeWithoutBeats(nodeId);
    if (!this.#firstBeats.has(nodeId)) {
      this.#firstBeats.set(nodeId, beat);
      this.#options.logger.info(
        { nodeId },
        'another node is listed as alive; waiting for the length of its lease to see if it sends heartbeats',
      );
    }
    if (this.#firstBeats.get(nodeId) !== beat) throw anotherNode(nodeId);
    return { nodeId, beat };
  }

  async #pause(): Promise<void> {
    await sleep(this.#options.beatMs / 4, undefined, this.#closed === undefined ? {} : { signal: this.#closed });
  }
}

/** A node without heartbeats may be running or not: only the operator can tell. */
function nodeWithoutBeats(nodeId: string): StartRefused {
  return new StartRefused(
    `A node of an earlier version, which sends no heartbeats, is listed as alive (${nodeId}), and files are kept on a disk; stop that node first, or set RUNWIRE_SHARED_DISK=true if RUNWIRE_DATA_DIR is one disk that all nodes share, or, if its process no longer exists, run \`update nodes set dead = 1 where node_id = '${nodeId}'\` in the database.`,
  );
}

function anotherNode(nodeId: string): StartRefused {
  return new StartRefused(
    `Another node of this installation is running (${nodeId}), and files are kept on a disk; set RUNWIRE_SHARED_DISK=true on all nodes if RUNWIRE_DATA_DIR is one disk that they share, or store files on S3, or stop that node first.`,
  );
}
