import { CellMap } from '@runwire/lib/cells.ts';
import { WakeableLoop } from '@runwire/lib/wakeable-loop.ts';
import type { RunId } from '../domain/ids.ts';
import {
  deleteReaders,
  deleteReadersOfDeadNodes,
  insertReaders,
  runsReadElsewhere,
  runsThatNeedReaders,
} from '../store/queries/across-nodes.ts';
import type { Store } from '../store/store.ts';
import type { ThisNode } from '../store/this-node.ts';
import type { Logger } from '../telemetry/logger.ts';

/** The pause before a failed write is tried again. A new identity of this node is noticed after this time too. */
const RETRY_MS = 1000;

interface ReadRun {
  /** True while a reader on this node follows the run. */
  read: boolean;
  /** True if its integration cancels runs without readers; null if that was not looked up yet. */
  wantsReaders: boolean | null;
  /** The node id in the stored row; null if there is no row. */
  notedAs: string | null;
}

/**
 * Tells other nodes that a reader on this node follows one of their runs, if the integration has `onDisconnect: "cancel"`
 * (`contract-4-disconnect-any-node`). A row is written when the first reader of this node attaches, and deleted when the
 * last one leaves. Rows are written in batches, and tried again until the store has them.
 */
export class RemoteReaders implements AsyncDisposable {
  readonly #store: Store;
  readonly #node: ThisNode;
  readonly #runsHere: (runId: RunId) => boolean;
  readonly #runs = new CellMap<RunId, ReadRun>();
  readonly #loop: WakeableLoop;

  constructor(store: Store, node: ThisNode, runsHere: (runId: RunId) => boolean, logger: Logger) {
    this.#store = store;
    this.#node = node;
    this.#runsHere = runsHere;
    this.#loop = new WakeableLoop(
      RETRY_MS,
      () => this.#settle(),
      (error) => logger.warn({ err: error }, 'readers of runs of other nodes could not be stored; tried again'),
    );
    this.#loop.start();
  }

  /** Deletes the rows of nodes that no longer exist. */
  async forgetGoneNodes(): Promise<void> {
    await this.#store.transact('account', (tx) => tx.run(deleteReadersOfDeadNodes, {}));
  }

  firstAttached(runId: RunId): void {
    const known = this.#runs.get(runId);
    if (known !== undefined) known.read = true;
    // The node that executes the run knows its own readers without rows.
    else if (!this.#runsHere(runId)) this.#runs.set(runId, { read: true, wantsReaders: null, notedAs: null });
    else return;
    this.#loop.wake();
  }

  lastLeft(runId: RunId): void {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    run.read = false;
    this.#loop.wake();
  }

  /** Returns those of these runs of this node that a reader on another node follows. */
  async readElsewhere(runIds: readonly RunId[]): Promise<ReadonlySet<RunId>> {
    const rows = await this.#store.reads.all(runsReadElsewhere, { runIds, nodeId: this.#node.nodeId });
    return new Set(rows.map(({ run_id }) => run_id));
  }

  async #settle(): Promise<void> {
    await this.#findWantedRows();
    const { nodeId } = this.#node;
    for (const [runId, run] of this.#runs) if (!run.read && run.notedAs === null) this.#runs.delete(runId);
    const changed = [...this.#runs].filter(([, run]) => (run.read ? run.notedAs !== nodeId : run.notedAs !== null));
    if (changed.length === 0 || nodeId === '') return;
    const noted = changed.filter(([, run]) => run.read);
    const gone = changed.filter(([, run]) => run.notedAs !== null);
    await this.#store.transact('account', async (tx) => {
      await Promise.all([
        ...gone.map(([runId, run]) => tx.run(deleteReaders, { runId, nodeId: run.notedAs ?? '' })),
        ...noted.map(([runId]) => tx.run(insertReaders, { run_id: runId, node_id: nodeId })),
      ]);
    });
    for (const [, run] of gone) run.notedAs = null;
    for (const [, run] of noted) run.notedAs = nodeId;
    for (const [runId, run] of gone) if (!run.read && run.notedAs === null) this.#runs.delete(runId);
  }

  /** Looks up which runs need rows. A run that has ended, or that continues without readers, needs none. */
  async #findWantedRows(): Promise<void> {
    const asked = [...this.#runs].filter(([, run]) => run.read && run.wantsReaders === null);
    if (asked.length === 0) return;
    const rows = await this.#store.reads.all(runsThatNeedReaders, { runIds: asked.map(([runId]) => runId) });
    const wanted = new Set(rows.map(({ run_id }) => run_id));
    for (const [runId, run] of asked) {
      run.wantsReaders = wanted.has(runId);
      if (!run.wantsReaders) this.#runs.delete(runId);
    }
  }

  /** After the server has closed its connections, no reader is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
    for (const run of this.#runs.values()) run.read = false;
    // If the store is unavailable the rows remain, but rows of a dead node do not count.
    await this.#settle().catch(() => {});
  }
}
