import { sql } from 'kysely';
import { statement } from '../statement.ts';

const toCompact = sql<boolean>`completed_at is not null and compacted_at is null`;

/** Reads the next runs that ended at or before `until`, after a position in the order of their end. */
export const runsToCompact = statement(
  'runs to compact',
  (db, p: { until: number; afterTime: number; afterRunId: string; limit: number }) =>
    db
      .selectFrom('runs')
      .select(['run_id', 'completed_at'])
      .where(toCompact)
      .where('completed_at', '<=', p.until)
      .where((eb) => eb(eb.refTuple('completed_at', 'run_id'), '>', eb.tuple(p.afterTime, p.afterRunId)))
      .orderBy('completed_at')
      .orderBy('run_id')
      .limit(p.limit),
);

/** Changes no row if the run is already compacted. */
export const markCompacted = statement('mark compacted', (db, p: { runId: string; now: number }) =>
  db.updateTable('runs').set({ compacted_at: p.now }).where('run_id', '=', p.runId).where(toCompact),
);

export const deleteChunks = statement('delete chunks', (db, p: { runId: string }) =>
  db.deleteFrom('event_chunks').where('run_id', '=', p.runId),
);
