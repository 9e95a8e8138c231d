import type { RunId } from '../domain/ids.ts';
import type { RunRow } from '../store/queries/runs.ts';
import { agentsOfRuns, continuingRuns } from '../store/queries/unfinished-steps.ts';
import type { Reads } from '../store/store.ts';

/** What a run's record shows besides the run's own row. */
export interface RunDetails {
  /** The agents that spoke, in order. */
  readonly agents: readonly string[];
  /** The run that settled its questions. Null if it asked nothing, or if they are open. */
  readonly continuedBy: RunId | null;
}

/** Reads a page's details in two queries. If its chat was deleted, a run has none. */
export async function readDetails(reads: Reads, rows: readonly RunRow[]): Promise<ReadonlyMap<RunId, RunDetails>> {
  const shown = rows.filter((row) => row.chat_deleted_at === null);
  const mayBeContinued = shown.filter((row) => row.status === 'completed' && row.questions_json === null);
  const [spoke, continuing] = await Promise.all([
    shown.length === 0 ? [] : reads.query(agentsOfRuns(toIds(shown))),
    mayBeContinued.length === 0 ? [] : reads.query(continuingRuns(toIds(mayBeContinued))),
  ]);
  const agents = new Map<RunId, string[]>();
  for (const { run_id: runId, agent } of spoke) agents.set(runId, [...(agents.get(runId) ?? []), agent]);
  const continuedBy = new Map(continuing.map((row) => [row.run_id, row.continued_by]));
  return new Map(
    shown.map(({ run_id: runId, agent, request_count: requests }) => {
      // A run's only step has no row.
      const otherwise = requests > 0 ? [agent] : [];
      return [runId, { agents: agents.get(runId) ?? otherwise, continuedBy: continuedBy.get(runId) ?? null }];
    }),
  );
}

const toIds = (rows: readonly RunRow[]) => rows.map((row) => row.run_id);
