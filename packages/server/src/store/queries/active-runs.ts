import { type RawBuilder, sql } from 'kysely';
import type { RunId } from '../../domain/ids.ts';
import type { ActiveRunsTable } from '../run-tables.ts';
import { insertInto, statement } from '../statement.ts';
import { ACTIVE_RUN_ORDER } from './locks.ts';
import { finishRun } from './runs.ts';

/** The `consumer_id` that `active_runs` has for a run without a member. */
export const NO_MEMBER = '';

/** The key of a row of `active_runs`, and the run that it must belong to. */
export type ActiveRunKey = Pick<ActiveRunsTable, 'integration_id' | 'consumer_id' | 'chat_key' | 'run_id'>;

/** Refused by the key if the chat has an active run. */
export const insertActiveRun = insertInto(
  'active_runs',
  ['integration_id', 'consumer_id', 'chat_key', 'run_id', 'node_id', 'held', 'unit', 'day'],
  { gathers: { order: ACTIVE_RUN_ORDER, types: { held: 'bigint', day: 'bigint' }, key: (p) => p.run_id } },
);

export const deleteActiveRun = statement(
  'delete active run',
  (db, p: ActiveRunKey) =>
    db
      .deleteFrom('active_runs')
      .where('integration_id', '=', p.integration_id)
      .where('consumer_id', '=', p.consumer_id)
      .where('chat_key', '=', p.chat_key)
      .where('run_id', '=', p.run_id),
  { gathers: { order: ACTIVE_RUN_ORDER, types: {}, key: (p) => p.run_id } },
);

/** Call it together with each change of `runs.node_id`. */
export const moveActiveRun = statement('move active run', (db, p: ActiveRunKey & { nodeId: string }) =>
  db
    .updateTable('active_runs')
    .set({ node_id: p.nodeId })
    .where('integration_id', '=', p.integration_id)
    .where('consumer_id', '=', p.consumer_id)
    .where('chat_key', '=', p.chat_key)
    .where('run_id', '=', p.run_id),
);

/** Call it after the statement that ends the run. Nothing changes if the run has ended before: its end may be written again. */
export const insertUnsuccessfulRun = statement(
  'insert unsuccessful run',
  (db, p: { runId: RunId }) =>
    db
      .insertInto('unsuccessful_runs')
      .columns(['integration_id', 'status', 'created_at', 'run_id'])
      .expression((eb) =>
        eb
          .selectFrom('runs')
          .select(['integration_id', 'status', 'created_at', 'run_id'])
          .where('run_id', '=', p.runId),
      )
      .onConflict((c) => c.columns(['integration_id', 'status', 'created_at', 'run_id']).doNothing()),
  {
    gathers: {
      order: ACTIVE_RUN_ORDER,
      types: {},
      reads: { table: 'runs', columns: ['integration_id', 'status', 'created_at', 'run_id'], writtenBy: [finishRun] },
    },
  },
);

/** Joins the active run `run` of the chat `chat` by its key. */
export const isActiveIn = (run: string, chat: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(`${run}.integration_id`)} = ${sql.ref(`${chat}.integration_id`)}
    and ${sql.ref(`${run}.consumer_id`)} = coalesce(${sql.ref(`${chat}.consumer_id`)}, '')
    and ${sql.ref(`${run}.chat_key`)} = ${sql.ref(`${chat}.chat_key`)}`;
