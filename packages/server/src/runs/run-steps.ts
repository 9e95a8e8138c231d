import { decodeCursor, page } from '../domain/list-cursor.ts';
import { Refusal } from '../domain/refusal.ts';
import type { JournalledStep } from '../domain/step.ts';
import { iso } from '../domain/time.ts';
import { usageJson } from '../domain/usage.ts';
import { stepsBefore } from '../store/queries/runs.ts';
import type { Reads } from '../store/store.ts';
import { journalledStep } from './journal.ts';
import type { RunReads } from './read-runs.ts';

export interface StepQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

/** What the journal holds of a run: its finished steps, newest first. */
export async function runSteps(
  reads: Reads,
  runReads: RunReads,
  integrationId: string,
  runId: string,
  query: StepQuery,
) {
  const run = await runReads.row(integrationId, runId);
  if (run.chat_deleted_at !== null) throw new Refusal('chat_not_found', 'The chat of this run was deleted.');
  const limit = query.limit ?? 50;
  const before = decodeCursor(query.cursor)?.createdAt ?? Number.MAX_SAFE_INTEGER;
  const rows = await reads.all(stepsBefore, { runId, before, limit: limit + 1 });
  return page(
    rows,
    limit,
    (row) => ({ createdAt: row.step, id: '' }),
    (row) => stepJson(journalledStep(row)),
  );
}

function stepJson({ usage, output, startedAt, completedAt, ...columns }: JournalledStep) {
  return {
    ...columns,
    usage: usage === null ? null : usageJson(usage),
    // A call that failed says so in its output: that is what the model was told.
    error: columns.status === 'failed' ? { code: 'tool_failed', message: output[0]?.text ?? '' } : null,
    startedAt: iso(startedAt),
    completedAt: iso(completedAt),
  };
}
