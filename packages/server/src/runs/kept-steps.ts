import type { RunId } from '../domain/ids.ts';
import { RunLost } from '../domain/run/run-lost.ts';
import type { JournalledStep } from '../domain/run/step.ts';
import { jsonRows } from '../store/queries/file-batches.ts';
import { copySteps, lockAttempt } from '../store/queries/reruns.ts';
import type { Tx } from '../store/store.ts';
import { storeStep } from './journal.ts';

/** The steps that a rerun keeps of its original run. */
export interface KeptSteps {
  /** The rerun, and its attempt. */
  readonly runId: RunId;
  readonly attempt: number;
  readonly original: RunId;
  readonly steps: readonly JournalledStep[];
}

/**
 * Stores the steps that a rerun keeps, before its own first step. Admission does not: 100 rows cost as much as the rest of a plain
 * run's start. Idempotent.
 */
export async function storeKeptSteps(tx: Tx, kept: KeptSteps): Promise<void> {
  const { runId, attempt, steps } = kept;
  if ((await tx.run(lockAttempt, { runId, attempt })) === 0) throw RunLost.ofAttempt(runId, attempt);
  const copied = await copyKept(tx, kept);
  // The original's chat was deleted since the rerun was admitted, or some are stored.
  if (copied < steps.length) await Promise.all(steps.map((step) => storeStep(tx, runId, step)));
}

/** Copies steps of the original run. Resolves to how many were copied. */
export const copyKept = (tx: Tx, { runId, original, steps }: Omit<KeptSteps, 'attempt'>): Promise<number> =>
  tx.run(copySteps, { from: original, runId, steps: jsonRows(steps.map(({ step }) => ({ step }))) });
