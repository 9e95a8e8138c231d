import { type RawBuilder, sql } from 'kysely';
import type { AllowanceUnit } from '../../domain/allowance.ts';
import type { ChatKey, IntegrationId, RunId } from '../../domain/ids.ts';
import { statement } from '../statement.ts';
import { ACTIVE_RUN_ORDER } from './locks.ts';
import { finishRun } from './runs.ts';

/** The `consumer_id` that `active_runs` has for a run without a member. */
export const NO_MEMBER = '';

/** The key of a row of `active_runs`, and the run that it must belong to. */
export interface ActiveRunKey {
  readonly integrationId: IntegrationId;
  /** `NO_MEMBER` if the run has none. */
  readonly member: string;
  readonly chatKey: ChatKey;
  readonly runId: RunId;
}

export const activeRunKey = (row: {
  readonly integration_id: IntegrationId;
  readonly consumer_id: string | null;
  readonly chat_key: ChatKey;
  readonly run_id: RunId;
}): ActiveRunKey => ({
  integrationId: row.integration_id,
  member: row.consumer_id ?? NO_MEMBER,
  chatKey: row.chat_key,
  runId: row.run_id,
});

/** Refused by the key if the chat has an active run. */
export const insertActiveRun = statement(
  'insert active run',
  (db, p: ActiveRunKey & { nodeId: string; held: number; unit: AllowanceUnit | null; day: number }) =>
    db.insertInto('active_runs').values({
      integration_id: p.integrationId,
      consumer_id: p.member,
      chat_key: p.chatKey,
      run_id: p.runId,
      node_id: p.nodeId,
      held: p.held,
      unit: p.unit,
      day: p.day,
    }),
  { gathers: { order: ACTIVE_RUN_ORDER, types: { held: 'bigint', day: 'bigint' }, key: (p) => p.runId } },
);

export const deleteActiveRun = statement(
  'delete active run',
  (db, p: ActiveRunKey) =>
    db
      .deleteFrom('active_runs')
      .where('integration_id', '=', p.integrationId)
      .where('consumer_id', '=', p.member)
      .where('chat_key', '=', p.chatKey)
      .where('run_id', '=', p.runId),
  { gathers: { order: ACTIVE_RUN_ORDER, types: {}, key: (p) => p.runId } },
);

/** Call it together with each change of `runs.node_id`. */
export const moveActiveRun = statement('move active run', (db, p: ActiveRunKey & { nodeId: string }) =>
  db
    .updateTable('active_runs')
    .set({ node_id: p.nodeId })
    .where('integration_id', '=', p.integrationId)
    .where('consumer_id', '=', p.member)
    .where('chat_key', '=', p.chatKey)
    .where('run_id', '=', p.runId),
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
