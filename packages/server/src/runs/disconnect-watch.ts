import type { IntegrationId, RunId } from '../domain/ids.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { RemoteReaders } from './remote-readers.ts';

interface WatchedRun {
  readonly integrationId: IntegrationId;
  /** The time since which this node knows of no reader; never before the last reader left. */
  aloneSince: number;
  /** True if the last look found a reader on another node. */
  readElsewhere: boolean;
  cancelling: boolean;
}

const TICKS_PER_PATIENCE = 20;

/**
 * Counts the readers of all runs. Cancels a run whose integration has `onDisconnect: "cancel"` if no reader, on any node,
 * was attached for `patienceMs` (`contract-4-disconnect-cancel`). Every reader counts: of the first answer, of a replay and
 * of a resumed stream. Shutdown or crash of a node is no disconnect (`contract-4-shutdown-no-disconnect`), so the watch
 * ends with the process.
 */
export class DisconnectWatch implements Disposable {
  /** The number of readers of each run on this node. */
  readonly #readers = new Map<RunId, number>();
  readonly #runs = new Map<RunId, WatchedRun>();
  readonly #patienceMs: number;
  readonly #tickMs: number;
  readonly #cancel: (integrationId: IntegrationId, runId: RunId) => Promise<unknown>;
  /** Null if there are no other nodes. */
  readonly #remote: RemoteReaders | null;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  #looking = false;
  #failing = false;

  constructor(
    patienceMs: number,
    cancel: (integrationId: IntegrationId, runId: RunId) => Promise<unknown>,
    logger: Logger,
    remote: RemoteReaders | null = null,
  ) {
    this.#patienceMs = patienceMs;
    this.#cancel = cancel;
    this.#logger = logger;
    this.#remote = remote;
    this.#tickMs = patienceMs / TICKS_PER_PATIENCE;
    this.#timer = setInterval(this.#tick, this.#tickMs);
    this.#timer.unref();
  }

  /** Call it before a reader of this attempt can attach. A run that was taken over may have readers already. */
  watch(runId: RunId, integrationId: IntegrationId): void {
    this.#runs.set(runId, { integrationId, aloneSince: performance.now(), readElsewhere: false, cancelling: false });
  }

  forget(runId: RunId): void {
    this.#runs.delete(runId);
  }

  readerAttached(runId: RunId): void {
    const before = this.#readers.get(runId) ?? 0;
    this.#readers.set(runId, before + 1);
    if (before === 0) this.#remote?.firstAttached(runId);
  }

  readerLeft(runId: RunId): void {
    const now = (this.#readers.get(runId) ?? 1) - 1;
    if (now > 0) {
      this.#readers.set(runId, now);
      return;
    }
    this.#readers.delete(runId);
    this.#remote?.lastLeft(runId);
    const run = this.#runs.get(runId);
    if (run !== undefined) run.aloneSince = performance.now();
  }

  #tick = (): void => {
    if (this.#looking) return;
    const alone = [...this.#runs].filter(([runId, run]) => !this.#readers.has(runId) && !run.cancelling);
    if (alone.length === 0) return;
    this.#looking = true;
    this.#look(alone)
      .then(() => {
        this.#failing = false;
      })
      .catch((error: unknown) => this.#onFailure(error, alone))
      .finally(() => {
        this.#looking = false;
      });
  };

  /**
   * Logs a failure once, however long it lasts. Without the store no reader can attach, and streams may have been cut for
   * that reason: the patience counts from the end of the outage.
   */
  #onFailure(error: unknown, alone: readonly (readonly [RunId, WatchedRun])[]): void {
    for (const [, run] of alone) run.aloneSince = performance.now();
    if (!this.#failing)
      this.#logger.warn({ err: error }, 'readers on other nodes could not be read from the store; tried again');
    this.#failing = true;
  }

  async #look(alone: readonly (readonly [RunId, WatchedRun])[]): Promise<void> {
    const askedAt = performance.now();
    const elsewhere = (await this.#remote?.readElsewhere(alone.map(([runId]) => runId))) ?? null;
    const answeredAt = performance.now();
    for (const [runId, run] of alone) {
      if (elsewhere?.has(runId)) run.readElsewhere = true;
      else if (run.readElsewhere) {
        // The reader left at an unknown time after the previous look, so the patience counts from here.
        run.readElsewhere = false;
        run.aloneSince = answeredAt;
      } else if (this.#mayCancel(runId, run, askedAt)) {
        run.cancelling = true;
        void this.#cancelAlone(runId, run);
      }
    }
  }

  /** While the other nodes were asked, the run may have ended, or a reader may have attached here. */
  #mayCancel(runId: RunId, run: WatchedRun, askedAt: number): boolean {
    // A reader of another node is seen one look later, because its row is written after it attached.
    const patienceMs = this.#patienceMs + (this.#remote === null ? 0 : this.#tickMs);
    return this.#runs.get(runId) === run && !this.#readers.has(runId) && askedAt - run.aloneSince >= patienceMs;
  }

  async #cancelAlone(runId: RunId, run: WatchedRun): Promise<void> {
    this.#logger.info(
      { runId },
      'a run has no reader any more; it is cancelled because its integration has onDisconnect set to cancel',
    );
    try {
      await this.#cancel(run.integrationId, runId);
    } catch (error) {
      this.#logger.warn({ err: error, runId }, 'a run without a reader could not be cancelled; tried again');
      run.aloneSince = performance.now();
      run.cancelling = false;
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#runs.clear();
  }
}
