import { type Kysely, sql } from 'kysely';
import type { IntegrationId, RunId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { type RowOf, statement } from '../statement.ts';
import { soughtId } from './sought-id.ts';
import { AMOUNT_COLUMNS } from './usage-columns.ts';

/** Reads how far the walk is. Returns no row if all runs of earlier versions are part of the rollups. */
export const usageWalk = statement('usage walk', (db, _: object) =>
  db.selectFrom('usage_walk').select(['after_run_id', 'last_run_id']),
);

/** The position of the last run of a page of the walk, and its runs' integrations. */
export const walkPage = statement('walk page', (db, p: { after: string; last: string; limit: number }) =>
  db
    .selectFrom('runs')
    .select(['run_id', 'integration_id'])
    .where('run_id', '>', soughtId<RunId>(p.after))
    .where('run_id', '<=', soughtId<RunId>(p.last))
    .orderBy('run_id')
    .limit(p.limit),
);

/** Changes no row if another node has counted the page. */
export const advanceWalk = statement('advance walk', (db, p: { from: string; to: string }) =>
  db.updateTable('usage_walk').set({ after_run_id: p.to }).where('after_run_id', '=', p.from),
);

export const endWalk = statement('end walk', (db, p: { at: string }) =>
  db.deleteFrom('usage_walk').where('after_run_id', '=', p.at),
);

const COLUMNS = [
  'runs.run_id',
  'runs.integration_id',
  'consumer_id',
  'node_id',
  'agent',
  'agency_version',
  'rerun_of',
  'day',
  'created_at',
  'status',
  'error_code',
  'by_model_json',
  'completed_at',
  'first_token_ms',
  'currency',
  ...AMOUNT_COLUMNS,
] as const;

const hasEnded = sql<boolean>`status in ('completed', 'failed', 'cancelled') and counted = 0`;

/**
 * Reads the ended runs of a page of the walk that no node has counted. A node of an earlier version may end a run of the page
 * during the walk; this run is in the queue.
 */
export const uncountedOfWalk = statement('uncounted of walk', (db, p: { after: string; to: string }) =>
  db
    .selectFrom('runs')
    .select(COLUMNS)
    .where('run_id', '>', soughtId<RunId>(p.after))
    .where('run_id', '<=', soughtId<RunId>(p.to))
    .where(hasEnded)
    .where('run_id', 'not in', (eb) => eb.selectFrom('uncounted_runs').select('run_id')),
);

export const queuedRuns = statement('queued runs', (db, p: { limit: number }) =>
  db.selectFrom('uncounted_runs').select(['run_id', 'integration_id']).orderBy('run_id').limit(p.limit),
);

/** Changes no row if another node has counted the run. */
export const markCounted = statement('mark counted', (db, p: { runId: RunId }) =>
  db.updateTable('runs').set({ counted: 1 }).where('run_id', '=', p.runId).where(hasEnded),
);

export const runToCount = statement('run to count', (db, p: { runId: RunId }) =>
  db.selectFrom('runs').select(COLUMNS).where('run_id', '=', p.runId),
);

export const unqueueRun = statement('unqueue run', (db, p: { runId: RunId }) =>
  db.deleteFrom('uncounted_runs').where('run_id', '=', p.runId),
);

/** Reads the deleted integrations that still have rollups. */
export const deletedWithHours = statement('deleted with hours', (db, _: object) =>
  db
    .selectFrom('integrations')
    .select('integration_id')
    .where('deleted_at', 'is not', null)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('usage_hours')
          .select('usage_hours.hour')
          .whereRef('usage_hours.integration_id', '=', 'integrations.integration_id'),
      ),
    ),
);

export const deleteHours = statement('delete hours', (db, p: { integrationId: IntegrationId }) =>
  db.deleteFrom('usage_hours').where('integration_id', '=', p.integrationId),
);

export type UncountedRun = RowOf<typeof runToCount>;

/** Selects the runs of an integration that are not part of the rollups: active runs, and runs in the queue. */
export const uncountedIds = (db: Kysely<Schema>, integrationId: IntegrationId) =>
  db
    .selectFrom('active_runs')
    .select('run_id')
    .where('integration_id', '=', integrationId)
    .unionAll(db.selectFrom('uncounted_runs').select('run_id').where('integration_id', '=', integrationId));
