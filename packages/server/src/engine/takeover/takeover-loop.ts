import { StoreUnavailable } from '../../domain/unavailable.ts';
import type { SeenHeartbeat } from '../../store/heartbeats.ts';
import { fenceNode } from '../../store/queries/nodes.ts';
import { Orphans, type OrphansOptions } from './orphans.ts';
import type { TakeoverDeps } from './take-over.ts';

export type TakeoverOptions = Omit<OrphansOptions, 'closing' | 'onWaiting'>;

/** A timer may fire some milliseconds before `Date.now()` reaches its time. */
const TIMER_SLACK_MS = 50;

/**
 * While this node runs: fences silent nodes and takes over orphans. If something fails, the next call repeats it; the
 * node's heartbeat calls every second or two while there is something to do.
 */
export class TakeoverLoop implements AsyncDisposable {
  readonly #deps: TakeoverDeps;
  readonly #orphans: Orphans;
  readonly #closing = new AbortController();
  readonly #fencing = new Set<string>();
  #pass: Promise<void> | null = null;
  #isAsked = false;
  /** Looks when the first of the waiting orphans ends: the embedded store has no heartbeats that look. */
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(deps: TakeoverDeps, { room, start }: TakeoverOptions) {
    this.#deps = deps;
    const freeRoom = () => (this.#isClosed || deps.node.identity === null ? 0 : room());
    this.#orphans = new Orphans(deps, {
      room: freeRoom,
      start,
      onWaiting: this.#lookAt,
      closing: this.#closing.signal,
    });
  }

  /** Waits for the transactions that the silent node has open: the database ends a transaction that is idle. */
  fence = (silent: readonly SeenHeartbeat[]): void => {
    for (const node of silent) {
      if (this.#isClosed || this.#fencing.has(node.nodeId)) continue;
      this.#fencing.add(node.nodeId);
      void this.#fence(node).finally(() => this.#fencing.delete(node.nodeId));
    }
  };

  /** Looks for orphans. If a pass is under way, starts one more after it, because that one may have looked too early. */
  look = (): void => {
    if (this.#isClosed) return;
    this.#isAsked = true;
    this.#pass ??= this.#takeOver().finally(() => {
      this.#pass = null;
    });
  };

  #lookAt = (endsAt: number): void => {
    if (this.#isClosed || endsAt >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = endsAt;
    const fire = () => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.look();
    };
    this.#timer = setTimeout(fire, Math.max(0, endsAt - Date.now()) + TIMER_SLACK_MS).unref();
  };

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #fence(node: SeenHeartbeat): Promise<void> {
    const { store, logger, metrics } = this.#deps;
    const { nodeId, beat } = node;
    try {
      if ((await store.transact('lease', (tx) => tx.run(fenceNode, { nodeId, beat }))) === 0) return;
      metrics.nodesFenced.add({});
      logger.warn({ nodeId }, 'a node sent no heartbeat within its lease and was fenced');
      this.look();
    } catch (error) {
      logger.info({ err: error, nodeId }, 'a node without a heartbeat could not be fenced yet; retrying');
    }
  }

  async #takeOver(): Promise<void> {
    const { logger } = this.#deps;
    while (this.#isAsked && !this.#isClosed) {
      this.#isAsked = false;
      try {
        await this.#orphans.takeOverAll();
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) logger.error({ err: error }, 'orphaned runs could not be taken over');
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.#pass;
  }
}
