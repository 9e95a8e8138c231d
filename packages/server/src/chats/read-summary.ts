import type { RunId } from '../domain/ids.ts';
import type { StepOutcome } from '../domain/run/step.ts';
import { summaryOfRun } from '../store/queries/summaries.ts';
import { first, type Reads } from '../store/store.ts';
import { type ChatSummary, toSummary } from './summary.ts';

/**
 * Reads the newest summary of a chat that a run up to this message made. `newest` is the run that made the chat's newest one.
 * Returns null if there is none.
 */
export async function readSummary(
  reads: Reads,
  newest: RunId | null,
  lastPosition: number,
  known: ChatSummary | null = null,
): Promise<ChatSummary | null> {
  for (let runId = newest; runId !== null; ) {
    const summary = known?.runId === runId ? known : await readOne(reads, runId);
    if (summary === null || summary.madeAt <= lastPosition) return summary;
    runId = summary.before;
  }
  return null;
}

async function readOne(reads: Reads, runId: RunId): Promise<ChatSummary | null> {
  const row = await first(reads.all(summaryOfRun, { runId }));
  const stored = row === undefined ? undefined : (JSON.parse(row.record_json) as StepOutcome).summary;
  return stored === undefined ? null : toSummary(runId, stored);
}
