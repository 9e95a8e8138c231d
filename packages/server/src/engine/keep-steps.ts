import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import { type KeptSteps, storeKeptSteps } from '../runs/kept-steps.ts';
import type { EngineDeps } from './deps.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import type { StopHandle } from './stop-handle.ts';

/** What stores the steps that a rerun keeps. */
interface KeepingRun {
  readonly deps: Pick<EngineDeps, 'store' | 'retryMs'>;
  readonly stop: Pick<StopHandle, 'reason'>;
  /** Null if they are stored, or if a transaction that has begun stores them. */
  kept: KeptSteps | null;
  journalling: Promise<void>;
}

/** A fast model has answered by then, and a slow one is not delayed. People who open the rerun see its steps. */
const KEEP_AFTER_MS = 50;

/** Returns the steps that a rerun keeps of its original run. Null in other runs, and in later attempts: a takeover stores them. */
export function findKept({ runId, attempt, rerunOf, resumed }: AdmittedRun): KeptSteps | null {
  if (rerunOf === null || resumed === null || attempt > 1) return null;
  return { runId, attempt, original: rerunOf, steps: resumed.steps };
}

/** Stores them soon, but not before the model is asked. The first own step and the end store them too, if they are earlier. */
export function keepStepsSoon(keeping: KeepingRun): void {
  if (keeping.kept !== null) setTimeout(keepSteps, KEEP_AFTER_MS, keeping).unref();
}

export function keepSteps(keeping: KeepingRun): void {
  const { deps, stop, kept } = keeping;
  if (kept === null) return;
  keeping.kept = null;
  const store = () => deps.store.transact('step', (tx) => storeKeptSteps(tx, kept));
  keeping.journalling = keeping.journalling.then(() => retryWhileUnavailable(deps, stop, store));
  // The next step or the end reports it.
  keeping.journalling.catch(() => {});
}
