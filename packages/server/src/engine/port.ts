import type { LoadedAgency } from '../agencies/loaded-agency.ts';
import type { IntegrationId, RunId } from '../domain/ids.ts';
import type { ArgumentChange } from '../domain/question/question.ts';
import type { Refusal } from '../domain/refusal.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import type { CancelMode } from '../domain/run/run-state.ts';

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

/** The request with changed arguments. MCP servers may have other tools for other members. */
export interface AnsweringRequest {
  readonly integrationId: IntegrationId;
  readonly consumerId: string | null;
  readonly userContext: unknown;
}

/** Returns the refusal of arguments that the tools do not accept, or null. */
export type CheckArguments = (
  agency: LoadedAgency,
  request: AnsweringRequest,
  changes: readonly ArgumentChange[],
) => Promise<Refusal | null>;
