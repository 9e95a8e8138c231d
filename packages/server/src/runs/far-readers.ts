import { WokenLoop } from '../lib/woken-loop.ts';
import {
  forgetReaders,
  forgetReadersOfGoneNodes,
  noteReaders,
  runsReadElsewhere,
  runsThatWantReaders,
} from '../store/queries/across-nodes.ts';
import type { Store } from '../store/store.ts';
import type { ThisNode } from '../store/this-node.ts';
import type { Logger } from '../telemetry/logger.ts';

/** What was not written is tried again so often, and whether this node is another one now is seen so soon. */
const AGAIN_MS = 1000;

interface ReadRun {
  /** Whether somebody reads it here now. */
  read: boolean;
  /** Whether its integration cancels runs without readers; null: not asked yet. */
  wantsReaders: boolean | null;
  /** Under which node's name the row stands; null: there is none. */
  notedAs: string | null;
}

/**
 * Tells the node that runs a run of an integration with `onDisconnect: "cancel"` that somebody reads it here:
 * a row "written when a node's first reader comes and removed when its last goes". It brings the rows up to what is
 * so now, many at a time, and again until the store has them.
 */
export class FarReaders implements AsyncDisposable {
  readonly #store: Store;
  readonly #node: ThisNode;
  readonly #runsHere: (runId: string) => boolean;
  readonly #runs = new Map<string, ReadRun>();
  readonly #loop: WokenLoop;

  constructor(store: Store, node: ThisNode, runsHere: (runId: string) => boolean, logger: Logger) {
    this.#store = store;
    this.#node = node;
    this.#runsHere = runsHere;
    this.#loop = new WokenLoop(
      AGAIN_MS,
      () => this.#settle(),
      (error) => logger.warn({ err: error }, 'readers of runs of other nodes could not be stored; retrying'),
    );
    this.#loop.start();
  }

  /** What nodes that no longer exist have left behind. */
  async forgetGoneNodes(): Promise<void> {
    await this.#store.transact('account', (tx) => tx.run(forgetReadersOfGoneNodes, {}));
  }

  firstCame(runId: string): void {
    const known = this.#runs.get(runId);
    if (known !== undefined) known.read = true;
    // The node that runs it knows its readers without rows.
    else if (!this.#runsHere(runId)) this.#runs.set(runId, { read: true, wantsReaders: null, notedAs: null });
    else return;
    this.#loop.wake();
  }

  lastLeft(runId: string): void {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    run.read = false;
    this.#loop.wake();
  }

  /** Those of these runs of this node that somebody reads on another one. */
  async readElsewhere(runIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#store.reads.all(runsReadElsewhere, { runIds, nodeId: this.#node.nodeId });
    return new Set(rows.map(({ run_id }) => run_id));
  }

  async #settle(): Promise<void> {
    await this.#askWhatTheyWant();
    const { nodeId } = this.#node;
    for (const [runId, run] of this.#runs) if (!run.read && run.notedAs === null) this.#runs.delete(runId);
    const changed = [...this.#runs].filter(([, run]) => (run.read ? run.notedAs !== nodeId : run.notedAs !== null));
    if (changed.length === 0 || nodeId === '') return;
    const noted = changed.filter(([, run]) => run.read);
    const gone = changed.filter(([, run]) => run.notedAs !== null);
    await this.#store.transact('account', async (tx) => {
      await Promise.all([
        ...gone.map(([runId, run]) => tx.run(forgetReaders, { runId, nodeId: run.notedAs ?? '' })),
        ...noted.map(([runId]) => tx.run(noteReaders, { runId, nodeId })),
      ]);
    });
    for (const [, run] of gone) run.notedAs = null;
    for (const [, run] of noted) run.notedAs = nodeId;
    for (const [runId, run] of gone) if (!run.read && run.notedAs === null) this.#runs.delete(runId);
  }

  /** Whether rows are wanted at all: of ended runs, and where the integration lets them go on, none are. */
  async #askWhatTheyWant(): Promise<void> {
    const asked = [...this.#runs].filter(([, run]) => run.read && run.wantsReaders === null);
    if (asked.length === 0) return;
    const rows = await this.#store.reads.all(runsThatWantReaders, { runIds: asked.map(([runId]) => runId) });
    const wanted = new Set(rows.map(({ run_id }) => run_id));
    for (const [runId, run] of asked) {
      run.wantsReaders = wanted.has(runId);
      if (!run.wantsReaders) this.#runs.delete(runId);
    }
  }

  /** Nobody reads here any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
    for (const run of this.#runs.values()) run.read = false;
    // Where the store does not take it, the rows go with this node: those of a node that is gone do not count.
    await this.#settle().catch(() => {});
  }
}
