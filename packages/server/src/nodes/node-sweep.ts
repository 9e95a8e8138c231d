import { Sweep } from '@runwire/lib/sweep.ts';
import {
  deleteCommitMarks,
  deleteHeartbeat,
  deleteNode,
  deleteNodeReaders,
  endedNodes,
} from '../store/queries/nodes.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface NodeSweepOptions {
  /** How long a stopped node stays listed, and how long a commit mark is kept. */
  readonly goneNodeMs: number;
  readonly sweepMs: number;
}

/** T7 of the nodes: deletes nodes that stopped long ago and have no runs left, and old commit marks. */
export class NodeSweep extends Sweep {
  readonly #store: Store;
  readonly #options: NodeSweepOptions;

  constructor(store: Store, options: NodeSweepOptions, logger: Logger) {
    super(options.sweepMs, 'nodes that no longer exist', logger);
    this.#store = store;
    this.#options = options;
  }

  /** Resolves to the number of deleted nodes. */
  protected override async sweepOnce(): Promise<number> {
    const before = Date.now() - this.#options.goneNodeMs;
    if (this.#store.kind === 'postgres') {
      await this.#store.transact('sweep', (tx) => tx.run(deleteCommitMarks, { before }));
    }
    const rows = await this.#store.reads.all(endedNodes, { before });
    if (rows.length === 0) return 0;
    await this.#store.transact('sweep', async (tx) => {
      for (const { node_id: nodeId } of rows) {
        await Promise.all([
          tx.run(deleteNode, { nodeId }),
          tx.run(deleteHeartbeat, { nodeId }),
          tx.run(deleteNodeReaders, { nodeId }),
        ]);
      }
    });
    return rows.length;
  }
}
