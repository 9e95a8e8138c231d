import { setTimeout as sleep } from 'node:timers/promises';
import { StartRefused } from '../domain/start-refused.ts';
import { monotonicMs } from '../lib/monotonic.ts';
import { BeatWatch } from '../store/beat-watch.ts';
import type { SeenBeat } from '../store/node-beats.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface OtherNodesOptions {
  readonly leaseMs: number;
  readonly beatMs: number;
  readonly logger: Logger;
}

export interface ListedNode {
  readonly nodeId: string;
  /** Null: its version does not beat. */
  readonly beat: number | null;
}

/**
 * The nodes that are listed as alive while one starts that may have none beside it. One of them may have crashed a moment
 * ago, so its beat is watched: raised, it lives, and the start is refused.
 */
export class OtherNodes {
  readonly #list: () => Promise<readonly ListedNode[]>;
  readonly #options: OtherNodesOptions;
  readonly #closed: AbortSignal | undefined;
  readonly #watch: BeatWatch;
  readonly #firstBeats = new Map<string, number>();
  #hasLooked = false;

  constructor(list: () => Promise<readonly ListedNode[]>, options: OtherNodesOptions, closed?: AbortSignal) {
    this.#list = list;
    this.#options = options;
    this.#closed = closed;
    this.#watch = new BeatWatch(options.leaseMs, (options.leaseMs * 3) / 8);
  }

  /** Resolves to those that are listed when all of them have been silent for the length of a lease. */
  async silent(): Promise<readonly SeenBeat[]> {
    for (;;) {
      if (this.#hasLooked) await this.#pause();
      this.#hasLooked = true;
      const askedAt = monotonicMs();
      const others = (await this.#list()).map((node) => this.#unraised(node));
      const silent = this.#watch.observe(askedAt, monotonicMs(), others);
      if (silent.length === others.length) return silent;
    }
  }

  #unraised({ nodeId, beat }: ListedNode): SeenBeat {
    if (beat === null) throw nodeWithoutBeats(nodeId);
    if (!this.#firstBeats.has(nodeId)) {
      this.#firstBeats.set(nodeId, beat);
      this.#options.logger.info({ nodeId }, 'another node is listed as alive; waiting to see whether it is');
    }
    if (this.#firstBeats.get(nodeId) !== beat) throw anotherNode(nodeId);
    return { nodeId, beat };
  }

  async #pause(): Promise<void> {
    await sleep(this.#options.beatMs / 4, undefined, this.#closed === undefined ? {} : { signal: this.#closed });
  }
}

/** Nobody can tell whether it runs. */
function nodeWithoutBeats(nodeId: string): StartRefused {
  return new StartRefused(
    `A node of an earlier version, which does not beat, is listed as alive (${nodeId}), and files are kept on a disk; stop it first, or set RUNWIRE_SHARED_DISK=true where RUNWIRE_DATA_DIR is one disk that all nodes share, or, where its process is gone for good, run \`update nodes set dead = 1 where node_id = '${nodeId}'\` in the database.`,
  );
}

function anotherNode(nodeId: string): StartRefused {
  return new StartRefused(
    `Another node of this installation is running (${nodeId}), and files are kept on a disk; set RUNWIRE_SHARED_DISK=true on all nodes where RUNWIRE_DATA_DIR is one disk that they share, or keep files on S3, or stop that node first.`,
  );
}
