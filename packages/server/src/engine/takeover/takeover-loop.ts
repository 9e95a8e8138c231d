import { StoreUnavailable } from '../../domain/unavailable.ts';
import type { SeenBeat } from '../../store/node-beats.ts';
import { fenceNode } from '../../store/queries/nodes.ts';
import { Orphans, type OrphansOptions } from './orphans.ts';
import type { TakeOverDeps } from './take-over.ts';

export type TakeoverOptions = Omit<OrphansOptions, 'closing'>;

/**
 * While this node runs: fences those that are silent, and takes over what nodes that no longer exist left unfinished. What
 * fails is left to the next time; there is one within a second or two as long as there is something to do.
 */
export class TakeoverLoop implements AsyncDisposable {
  readonly #deps: TakeOverDeps;
  readonly #orphans: Orphans;
  readonly #closing = new AbortController();
  readonly #fencing = new Set<string>();
  #taking: Promise<void> | null = null;
  #asked = false;

  constructor(deps: TakeOverDeps, { room, start }: TakeoverOptions) {
    this.#deps = deps;
    const freeRoom = () => (this.#isClosed || deps.node.identity === null ? 0 : room());
    this.#orphans = new Orphans(deps, { room: freeRoom, start, closing: this.#closing.signal });
  }

  /** Waits for what the silent node has under way: the database ends a transaction that stands still. */
  fence = (silent: readonly SeenBeat[]): void => {
    for (const node of silent) {
      if (this.#isClosed || this.#fencing.has(node.nodeId)) continue;
      this.#fencing.add(node.nodeId);
      void this.#fence(node).finally(() => this.#fencing.delete(node.nodeId));
    }
  };

  /** Once more behind the one that is under way, which may have looked too early. */
  look = (): void => {
    if (this.#isClosed) return;
    this.#asked = true;
    this.#taking ??= this.#take().finally(() => {
      this.#taking = null;
    });
  };

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #fence(node: SeenBeat): Promise<void> {
    const { store, logger, metrics } = this.#deps;
    const { nodeId, beat } = node;
    try {
      if ((await store.transact('lease', (tx) => tx.run(fenceNode, { nodeId, beat }))) === 0) return;
      metrics.nodesFenced.add({});
      logger.warn({ nodeId }, 'a node sent no heartbeat within its lease and was fenced');
      this.look();
    } catch (error) {
      logger.info({ err: error, nodeId }, 'a node without a heartbeat could not be fenced yet');
    }
  }

  async #take(): Promise<void> {
    const { logger } = this.#deps;
    while (this.#asked && !this.#isClosed) {
      this.#asked = false;
      try {
        await this.#orphans.take();
      } catch (error) {
        if (!(error instanceof StoreUnavailable))
          logger.error({ err: error }, 'runs of dead nodes could not be taken over');
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#taking;
  }
}
