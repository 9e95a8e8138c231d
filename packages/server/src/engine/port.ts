import type { LoadedAgency } from '../agencies/loaded-agency.ts';
import type { AdmittedRun } from '../domain/admitted-run.ts';
import type { RunId } from '../domain/ids.ts';
import type { CancelMode } from '../domain/run-state.ts';

export interface RunEngine {
  /**
   * Opens the run's log and stop handle synchronously, then executes the run, after `letGo` if it is given. Does nothing
   * if this server has already stopped its runs: the run stays unfinished, as they do. The run keeps `agency` to its end;
   * if it is not given, it keeps the version that is loaded now.
   */
  start(run: AdmittedRun, letGo?: Promise<void> | null, agency?: LoadedAgency | null): void;
  /** Returns false if this node does not execute the run. */
  stop(runId: RunId, mode: CancelMode): boolean;
  /** Resolves when the run has ended here; returns null if this node does not execute it. */
  ended(runId: RunId): Promise<void> | null;
}
