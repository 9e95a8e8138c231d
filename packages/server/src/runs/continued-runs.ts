import type { RunId } from '../domain/ids.ts';
import type { Settlement } from '../domain/question/question.ts';
import { continuedQuestions } from '../store/queries/runs.ts';
import { first, type Reads } from '../store/store.ts';

/** A run whose questions a later run settled. */
export interface ContinuedRun {
  readonly runId: RunId;
  readonly settlements: readonly Settlement[];
}

/**
 * Returns the runs whose answer this run continues, oldest first. A run with a new message of the user settles the
 * questions before it too, but its answer is one of its own.
 */
export async function continuedRuns(reads: Reads, requested: RunId): Promise<readonly ContinuedRun[]> {
  const chain: ContinuedRun[] = [];
  for (let runId = requested; ; ) {
    const row = await first(reads.all(continuedQuestions, { runId }));
    if (row === undefined || row.continues === null || row.answers_json === null || row.content_json !== '""')
      return chain;
    runId = row.continues;
    chain.unshift({ runId, settlements: JSON.parse(row.answers_json) as Settlement[] });
  }
}
