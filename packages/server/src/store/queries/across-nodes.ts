import { sql } from 'kysely';
import type { RunId } from '../../domain/ids.ts';
import type { CancelMode, RunStatus } from '../../domain/run/run-state.ts';
import { NODE_ALIVE } from '../schema.ts';
import { insertInto, statement } from '../statement.ts';
import { raw } from './raw.ts';

/*
 * Queries about runs that a node shares with other nodes. Lists of ids are arrays, which only PostgreSQL has. The
 * embedded store has no other nodes and never runs these queries.
 */

export interface RemoteNews {
  run_id: RunId;
  /** Null if the run does not exist. */
  status: RunStatus | null;
  node_id: string | null;
  /** The stored chunk that continues after the requested event. Null if there is none. */
  first_id: number | null;
  last_id: number | null;
  data: string | null;
  /** True if another chunk follows. */
  more: boolean;
  /** True if the run is compacted and events follow. */
  compacted: boolean | null;
}

/** Reads for each run the chunk that contains event `after + 1`, or the next one, by the primary key. */
export const remoteNews = statement('far news', (db, p: { runIds: readonly RunId[]; afters: readonly number[] }) =>
  raw(
    db,
    sql<RemoteNews>`
      select f.run_id, r.status, r.node_id, c.first_id, c.last_id, c.data,
        exists (select 1 from event_chunks m where m.run_id = f.run_id and m.first_id > c.last_id) as more,
        r.compacted_at is not null and r.last_event_id > f.after as compacted
      from unnest(cast(${p.runIds} as text[]), cast(${p.afters} as bigint[])) as f(run_id, after)
      left join runs r on r.run_id = f.run_id
      left join lateral (
        select e.first_id, e.last_id, e.data from event_chunks e
        where e.run_id = f.run_id and e.first_id >= coalesce((
          select case when b.last_id > f.after then b.first_id end from event_chunks b
          where b.run_id = f.run_id and b.first_id <= f.after order by b.first_id desc limit 1), f.after + 1)
        order by e.first_id limit 1) c on true`,
  ),
);

/** Reads the cancel requests for this node's runs. */
export const cancelIntents = statement('cancel intents', (db, p: { nodeId: string }) =>
  db
    .selectFrom('active_runs')
    .innerJoin('runs', 'runs.run_id', 'active_runs.run_id')
    .select(['runs.run_id', (eb) => eb.ref('cancel_mode').$castTo<CancelMode>().as('cancel_mode')])
    .where('active_runs.node_id', '=', p.nodeId)
    .where('cancel_mode', 'is not', null),
);

/** Returns the runs among these that are cancelled if no client reads them. */
export const runsThatNeedReaders = statement('runs that want readers', (db, p: { runIds: readonly RunId[] }) =>
  db
    .selectFrom('runs')
    .innerJoin('integrations', 'integrations.integration_id', 'runs.integration_id')
    .select('runs.run_id')
    .where(sql<boolean>`runs.run_id = any(cast(${p.runIds} as text[]))`)
    .where(sql<boolean>`runs.status in ('admitted', 'running')`)
    .where('integrations.on_disconnect', '=', 'cancel'),
);

export const insertReaders = insertInto('run_readers', ['run_id', 'node_id'], { unlessExists: ['run_id', 'node_id'] });

export const deleteReaders = statement('forget readers', (db, p: { runId: RunId; nodeId: string }) =>
  db.deleteFrom('run_readers').where('run_id', '=', p.runId).where('node_id', '=', p.nodeId),
);

/** Deletes the rows of dead nodes. */
export const deleteReadersOfDeadNodes = statement('forget readers of gone nodes', (db, _: Record<string, never>) =>
  db
    .deleteFrom('run_readers')
    .where('node_id', 'not in', (eb) => eb.selectFrom('nodes').select('node_id').where('dead', '=', NODE_ALIVE)),
);

/** Returns the runs among these that have readers on other living nodes. */
export const runsReadElsewhere = statement(
  'runs read elsewhere',
  (db, p: { runIds: readonly RunId[]; nodeId: string }) =>
    db
      .selectFrom('run_readers')
      .innerJoin('nodes', 'nodes.node_id', 'run_readers.node_id')
      .select('run_readers.run_id')
      .distinct()
      .where(sql<boolean>`run_readers.run_id = any(cast(${p.runIds} as text[]))`)
      .where('run_readers.node_id', '<>', p.nodeId)
      .where('nodes.dead', '=', NODE_ALIVE),
);
