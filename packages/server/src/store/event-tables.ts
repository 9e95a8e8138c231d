import type { RunId } from '../domain/ids.ts';

/** The run events. `compacted_chunks` has the same columns, and the events of a run that remain after compaction. */
export interface EventChunksTable {
  run_id: RunId;
  first_id: number;
  last_id: number;
  data: string;
}

/** How far a sweep has come that visits rows in the order of their ids. */
export interface SweepPositionsTable {
  name: string;
  /** The id of the last row that the sweep need not visit again. */
  position: string;
}

/** Runs that were not ready when the sweep of events passed them. */
export interface SkippedRunsTable {
  run_id: RunId;
}
