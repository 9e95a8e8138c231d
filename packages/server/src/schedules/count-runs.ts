import type { RunId } from '../domain/ids.ts';
import { type ClaimedSchedule, runStates } from '../store/queries/schedule-ticks.ts';
import type { Reads } from '../store/store.ts';

/** So many refusals and failed runs in a row pause a schedule. */
export const MAX_FAILURES = 10;
/** Runs that take longer than so many ticks are not counted. */
const MAX_UNCOUNTED = 20;

export interface FailureCount {
  readonly failures: number;
  readonly uncounted: readonly RunId[];
}

/**
 * Counts the ends of the runs of earlier ticks. It is called when the schedule is looked at anyway, so the end of a run writes
 * nothing for schedules.
 */
export async function countRuns(reads: Reads, row: ClaimedSchedule): Promise<FailureCount> {
  let { failures } = row;
  const runIds: readonly RunId[] = JSON.parse(row.uncounted_runs_json);
  if (runIds.length === 0) return { failures, uncounted: [] };
  const states = new Map((await reads.query(runStates(runIds))).map((run) => [run.run_id, run.status]));
  const uncounted: RunId[] = [];
  for (const runId of runIds) {
    const status = states.get(runId);
    if (status === 'admitted' || status === 'running') uncounted.push(runId);
    else failures = status === 'failed' ? failures + 1 : 0;
  }
  return { failures, uncounted };
}

export const addRun = ({ failures, uncounted }: FailureCount, runId: RunId): FailureCount => ({
  failures,
  uncounted: [...uncounted.filter((other) => other !== runId), runId].slice(-MAX_UNCOUNTED),
});
