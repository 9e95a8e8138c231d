import { CellMap } from '@runwire/lib/cells.ts';
import type { Hold } from '@runwire/lib/fair-budget.ts';
import type { LoadedAgency } from '../agencies/loaded-agency.ts';
import { ScratchBlobs, ScratchCleanup } from '../attachments/scratch-blobs.ts';
import type { RunId } from '../domain/ids.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import type { CancelMode } from '../domain/run/run-state.ts';
import type { RunLog } from '../eventlog/run-log.ts';
import type { EngineDeps } from './deps.ts';
import { executeRun } from './execute-run.ts';
import type { RunEngine } from './port.ts';
import { PreparedAgencies } from './prepared-agency.ts';
import { RunWatch } from './run-watch.ts';
import { StopHandle } from './stop-handle.ts';

interface ActiveRun {
  readonly stop: StopHandle;
  readonly log: RunLog;
  /** One of the node's slots for active runs. */
  readonly slot: Hold;
  readonly done: Promise<void>;
}

/** Executes admitted runs in this process. */
export class Engine implements RunEngine, AsyncDisposable {
  readonly #deps: EngineDeps;
  readonly #watch: RunWatch;
  readonly #prepared: PreparedAgencies;
  #handsOver = false;
  #isClosed = false;
  readonly #active = new CellMap<RunId, ActiveRun>();
  /** Runs that this node has lost and whose execution has not returned yet. */
  readonly #lost = new Set<Promise<void>>();
  readonly #scratchCleanup: ScratchCleanup;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.#watch = new RunWatch(deps.modelSilenceMs);
    this.#prepared = new PreparedAgencies(deps);
    this.#scratchCleanup = new ScratchCleanup(deps.logger);
  }

  get activeRuns(): number {
    return this.#active.size;
  }

  start(run: AdmittedRun, letGo: Promise<void> | null = null, checked: LoadedAgency | null = null): void {
    // The run was admitted too late to be stopped. When this node releases its lease, the run becomes an orphan.
    if (this.#isClosed) return;
    const { eventLog, disconnects, maxRunSeconds } = this.#deps;
    // A run that is admitted or taken over is never refused here.
    const slot = this.#deps.runSlots.hold(run.ownerId);
    slot.grow(1);
    const stop = new StopHandle();
    if (this.#handsOver) stop.handOver();
    const log = eventLog.open(run.runId, run.attempt, run.isOpeningStored ? [run.opening] : []);
    if (!run.isOpeningStored) log.append(run.opening);
    // The time limit counts from the first attempt, and includes the time between two attempts. That attempt may have run
    // on a machine whose clock is ahead: the run then gets no more time than it had at first.
    const spentMs = run.resumed === null ? 0 : Math.max(0, Date.now() - run.resumed.startedAt);
    const watched = this.#watch.begin(stop, run.maxRunSeconds ?? maxRunSeconds, spentMs, log);
    if (run.onDisconnect === 'cancel') disconnects.watch(run.runId, run.integrationId);
    const agency = checked ?? this.#deps.agencies.find(run.agency)?.loaded ?? null;
    const prepared = agency === null ? null : this.#prepared.findFor(agency, run);
    const scratch = new ScratchBlobs(this.#deps.attachments.blobs);
    const execute = () => {
      if (run.resumed !== null) watched.check(performance.now());
      return executeRun(this.#deps, { run, prepared, log, stop, watched, scratch });
    };
    const done = (letGo === null ? execute() : letGo.then(execute)).finally(() => {
      this.#watch.end(watched);
      this.#scratchCleanup.delete(scratch, run.runId);
      slot[Symbol.dispose]();
      // If this node lost the run, it may have taken the run over again since then.
      if (stop.reason?.kind === 'lost') return;
      this.#active.delete(run.runId);
      disconnects.forget(run.runId);
    });
    this.#active.set(run.runId, { stop, log, slot, done });
  }

  stop(runId: RunId, mode: CancelMode): boolean {
    const active = this.#active.get(runId);
    active?.stop.cancel(mode);
    return active !== undefined;
  }

  ended(runId: RunId): Promise<void> | null {
    return this.#active.get(runId)?.done ?? null;
  }

  /** From now on every run is handed over at the end of its step. */
  handOverAll(): void {
    this.#handsOver = true;
    for (const { stop } of this.#active.values()) stop.handOver();
  }

  /**
   * The other nodes have fenced this node and take its runs over. In one synchronous step, nothing more of the runs is
   * sent or stored. Returns the runs' ids, whose readers the caller cuts.
   */
  loseAll(): Set<RunId> {
    const { eventLog, disconnects } = this.#deps;
    const runIds = new Set(this.#active.keys());
    for (const [runId, { stop, log, slot, done }] of this.#active) {
      slot[Symbol.dispose]();
      this.#lost.add(done);
      void done.finally(() => this.#lost.delete(done));
      disconnects.forget(runId);
      log.abandon();
      eventLog.drop(log);
      stop.now({ kind: 'lost' });
    }
    this.#active.clear();
    return runIds;
  }

  /** Leaves every run unfinished: the next start of a server resumes it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#active.values()];
    for (const { stop } of all) stop.shutDown();
    await Promise.all([...all.map(({ done }) => done), ...this.#lost]);
    this.#watch[Symbol.dispose]();
    await this.#scratchCleanup[Symbol.asyncDispose]();
  }
}
