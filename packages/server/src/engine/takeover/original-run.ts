import { takeKept } from '../../domain/run/rerun.ts';
import { parseExtras } from '../../domain/run/run-extras.ts';
import type { JournalledStep } from '../../domain/run/step.ts';
import { storeKeptSteps } from '../../runs/kept-steps.ts';
import { readOriginalJournal } from '../../runs/original-journal.ts';
import { chatOfOriginal } from '../../store/queries/reruns.ts';
import { getJournal, type UnfinishedRun } from '../../store/queries/takeover.ts';
import { first, type Tx } from '../../store/store.ts';

export const ORIGINAL_DELETED = 'the chat of the run that it repeats was deleted.';

/**
 * Reads the journal of the run that a rerun repeats, and stores the steps that it keeps if the attempt before did not. Resolves to
 * null for other runs, and to `'deleted'` if the rerun cannot continue without steps that were deleted.
 */
export async function readOriginal(tx: Tx, run: UnfinishedRun): Promise<readonly JournalledStep[] | null | 'deleted'> {
  const { run_id: runId, attempt, rerun_of: original, rerun_after_step: afterStep } = run;
  // A run for an eval has its own id there.
  if (original === null || original === runId) return null;
  const journal = await readOriginalJournal(tx, original);
  // Admission stores the number of the last kept step, and summaries. An own step is never stored before the kept ones.
  const lacksKept = run.step > 0 && (await tx.all(getJournal, { runId })).every(({ kind }) => kind === 'summary');
  const chat = await first(tx.all(chatOfOriginal, { runId: original }));
  const isDeleted = chat === undefined || (chat.deleted_at !== null && chat.sharing_chat_key === null);
  if (isDeleted) return lacksKept || parseExtras(run.extras_json).rerun?.tools === 'recorded' ? 'deleted' : null;
  if (lacksKept) await storeKeptSteps(tx, { runId, attempt, original, steps: takeKept(journal, afterStep ?? 0) });
  return journal;
}
