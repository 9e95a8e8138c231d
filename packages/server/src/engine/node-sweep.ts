import { Sweep } from '../lib/sweep.ts';
import { deleteBeat, deleteNode, deleteReadersOf, goneNodes } from '../store/queries/nodes.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface NodeSweepOptions {
  /** How long a node that is gone stays listed. */
  readonly goneNodeMs: number;
  readonly sweepMs: number;
}

/** T7 of the nodes: those that have been gone for long, and left nothing to take over, are forgotten. */
export class NodeSweep extends Sweep {
  readonly #store: Store;
  readonly #options: NodeSweepOptions;

  constructor(store: Store, options: NodeSweepOptions, logger: Logger) {
    super(options.sweepMs, 'nodes that are gone', logger);
    this.#store = store;
    this.#options = options;
  }

  /** Resolves to how many were forgotten. */
  protected override async sweepOnce(): Promise<number> {
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
}
