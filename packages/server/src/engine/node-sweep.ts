import { TimerLoop } from '../lib/timer-loop.ts';
import { deleteBeat, deleteNode, deleteReadersOf, goneNodes } from '../store/queries/nodes.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface NodeSweepOptions {
  /** How long a node that is gone stays listed. */
  readonly goneNodeMs: number;
  readonly sweepMs: number;
}

/** T7 of the nodes: those that have been gone for long, and left nothing to take over, are forgotten. */
export class NodeSweep implements AsyncDisposable {
  readonly #store: Store;
  readonly #options: NodeSweepOptions;
  readonly #loop: TimerLoop;

  constructor(store: Store, options: NodeSweepOptions, logger: Logger) {
    this.#store = store;
    this.#options = options;
    this.#loop = new TimerLoop(
      options.sweepMs,
      () => this.#sweep(),
      (error) => logger.error({ err: error }, 'nodes that are gone could not be swept; tried again'),
    );
  }

  start(): void {
    this.#loop.start();
  }

  /** Resolves to how many were forgotten. */
  sweep(): Promise<number> {
    return this.#loop.once();
  }

  async #sweep(): Promise<number> {
    const rows = await this.#store.reads.all(goneNodes, { before: Date.now() - this.#options.goneNodeMs });
    if (rows.length === 0) return 0;
    await this.#store.transact('sweep', async (tx) => {
      for (const { node_id: nodeId } of rows) {
        await Promise.all([
          tx.run(deleteNode, { nodeId }),
          tx.run(deleteBeat, { nodeId }),
          tx.run(deleteReadersOf, { nodeId }),
        ]);
      }
    });
    return rows.length;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
