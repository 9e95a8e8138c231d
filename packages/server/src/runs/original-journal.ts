import type { RunId } from '../domain/ids.ts';
import { type JournalledStep, KEPT_EVENT_ID } from '../domain/run/step.ts';
import { journalOfOriginal } from '../store/queries/reruns.ts';
import type { Reads } from '../store/store.ts';
import { journalledStep } from './journal.ts';

const byEvent = (one: JournalledStep, other: JournalledStep) =>
  one.lastEventId - other.lastEventId || one.step - other.step;

/** Reads the journal of a run that is run again, in its events' order. Attempts and first events are not those of the run. */
export async function readOriginalJournal(reads: Reads, runId: RunId): Promise<readonly JournalledStep[]> {
  const rows = await reads.all(journalOfOriginal, { runId });
  return rows.map((row) => journalledStep({ ...row, attempt: 1, first_event_id: KEPT_EVENT_ID })).sort(byEvent);
}
