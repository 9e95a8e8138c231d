import { sql } from 'kysely';
import type { RunId } from '../../domain/ids.ts';
import { insertInto, statement } from '../statement.ts';
import { soughtId } from './sought-id.ts';

/** The name of the position of the sweep that compacts events. */
const EVENTS = 'events';

export const compactionPosition = statement('compaction position', (db, _: Record<string, never>) =>
  db.selectFrom('sweep_positions').select('position').where('name', '=', EVENTS),
);

/** Another node may have come further: then nothing changes. */
export const moveCompactionPosition = statement('move compaction position', (db, p: { position: string }) =>
  db
    .insertInto('sweep_positions')
    .values({ name: EVENTS, position: p.position })
    .onConflict((c) =>
      c.column('name').doUpdateSet({ position: p.position }).where('sweep_positions.position', '<', p.position),
    ),
);

/** Reads the next runs in the order of their ids, without runs that were made after the sweep's time. */
export const runsToVisit = statement('runs to visit', (db, p: { after: string; before: string; limit: number }) =>
  db
    .selectFrom('runs')
    .select(['run_id', 'completed_at', 'compacted_at'])
    .where('run_id', '>', soughtId<RunId>(p.after))
    .where('run_id', '<', soughtId<RunId>(p.before))
    .orderBy('run_id')
    .limit(p.limit),
);

export const skippedRuns = statement('skipped runs', (db, p: { after: string; limit: number }) =>
  db
    .selectFrom('skipped_runs')
    .innerJoin('runs', 'runs.run_id', 'skipped_runs.run_id')
    .select(['runs.run_id', 'runs.completed_at', 'runs.compacted_at'])
    .where('skipped_runs.run_id', '>', soughtId<RunId>(p.after))
    .orderBy('skipped_runs.run_id')
    .limit(p.limit),
);

export const insertSkippedRun = insertInto('skipped_runs', ['run_id'], { unlessExists: ['run_id'] });

export const deleteSkippedRun = statement('delete skipped run', (db, p: { runId: RunId }) =>
  db.deleteFrom('skipped_runs').where('run_id', '=', p.runId),
);

/** Changes no row if the run is already compacted. */
export const markCompacted = statement('mark compacted', (db, p: { runId: RunId; now: number }) =>
  db
    .updateTable('runs')
    .set({ compacted_at: p.now })
    .where('run_id', '=', p.runId)
    .where(sql<boolean>`completed_at is not null and compacted_at is null`),
);

export const deleteChunks = statement('delete chunks', (db, p: { runId: RunId }) =>
  db.deleteFrom('event_chunks').where('run_id', '=', p.runId),
);

export const insertCompactedChunk = insertInto('compacted_chunks', ['run_id', 'first_id', 'last_id', 'data']);
