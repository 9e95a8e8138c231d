import { sql } from 'kysely';
import type { RunId } from '../../domain/ids.ts';
import { IMAGE_TEXT_BYTES } from '../../domain/model/usage.ts';
import { NODE_ALIVE, RELEASED_RUN } from '../schema.ts';
import { type RowOf, statement } from '../statement.ts';
import { type UsageColumns, usageColumns } from './runs.ts';
import { soughtId } from './sought-id.ts';

/** Reads unfinished runs whose node is not alive, oldest first, after the run `after`. */
export const orphanedRuns = statement('orphaned runs', (db, p: { after: string }) =>
  db
    .selectFrom('active_runs')
    .select('run_id')
    .where('run_id', '>', soughtId<RunId>(p.after))
    .where('node_id', 'not in', (eb) => eb.selectFrom('nodes').select('node_id').where('dead', '=', NODE_ALIVE))
    .orderBy('run_id')
    .limit(100),
);

/** Returns no row if another node has locked the run, so nodes never wait for each other here. */
export const lockOrphan = statement(
  'lock orphan',
  (db, p: { runId: RunId }) =>
    db.selectFrom('runs').select('run_id').where('run_id', '=', p.runId).forUpdate().skipLocked(),
  { locks: true },
);

/** Reads a run with its chat's columns, its integration and its last node that a takeover needs. */
export const unfinishedRun = statement('unfinished run', (db, p: { runId: RunId }) =>
  db
    .selectFrom('runs')
    .innerJoin('chats', 'chats.chat_key', 'runs.chat_key')
    .innerJoin('integrations', 'integrations.integration_id', 'runs.integration_id')
    .leftJoin('nodes', 'nodes.node_id', 'runs.node_id')
    .selectAll('runs')
    .select(['chats.chat_id', 'chats.alias as chat_alias', 'chats.text_bytes', 'chats.num_messages'])
    .select(['integrations.owner_id', 'integrations.max_run_seconds'])
    .select(['integrations.on_disconnect', 'integrations.keep_attachments', 'integrations.model as integration_model'])
    .select('nodes.dead as node_dead')
    .select(
      // About the bytes that the sent attachments take in a prompt. Those of a failed turn were not sent.
      sql<number>`(select cast(coalesce(sum(case a.form when 'text' then a.size_bytes
          when 'pdf' then a.pages * ${sql.lit(IMAGE_TEXT_BYTES)} when 'image' then ${sql.lit(IMAGE_TEXT_BYTES)} end), 0) as bigint)
        from attachments a where a.chat_key = runs.chat_key and not exists (select 1
        from messages m where m.chat_key = a.chat_key and m.run_id = a.run_id and m.status = 'failed'))`.as(
        'attached_bytes',
      ),
    )
    .select(
      // About the length of the text that announces files of earlier messages to the model.
      sql<number>`(select coalesce(sum(octet_length(f.sandbox_files_json)), 0) from messages f
        where f.chat_key = runs.chat_key and f.run_id <> runs.run_id)`.as('announced_bytes'),
    )
    .where('runs.run_id', '=', p.runId)
    .where(sql<boolean>`runs.status in ('admitted', 'running')`),
);

export type UnfinishedRun = RowOf<typeof unfinishedRun>;

/** The fence of T6: it changes only an unfinished run of this attempt, so one node takes the run. */
export const takeRun = statement(
  'take run',
  (db, p: UsageColumns & { runId: RunId; attempt: number; nextAttempt: number; nodeId: string; crashes: number }) =>
    db
      .updateTable('runs')
      .set({
        attempt: p.nextAttempt,
        node_id: p.nodeId,
        crashes: p.crashes,
        ...usageColumns(p),
      })
      .where('run_id', '=', p.runId)
      .where('attempt', '=', p.attempt)
      .where(sql<boolean>`status in ('admitted', 'running')`),
);

/** Releases a run if this node still owns it. */
export const releaseRun = statement('release run', (db, p: { runId: RunId; attempt: number }) =>
  db
    .updateTable('runs')
    .set({ node_id: RELEASED_RUN })
    .where('run_id', '=', p.runId)
    .where('attempt', '=', p.attempt)
    .where(sql<boolean>`status in ('admitted', 'running')`),
);

/** Deletes also a chunk that begins with the event `after` and has later ones: the first chunk of a run is one. */
export const deleteChunksAfter = statement('delete chunks after', (db, p: { runId: RunId; after: number }) =>
  db
    .deleteFrom('event_chunks')
    .where('run_id', '=', p.runId)
    .where('first_id', '>=', p.after)
    .where('last_id', '>', p.after),
);

/** Reads a run's journal in the order in which the steps finished, which is their events' order. */
export const getJournal = statement('journal of', (db, p: { runId: RunId }) =>
  db.selectFrom('steps').selectAll().where('run_id', '=', p.runId).orderBy('last_event_id').orderBy('step'),
);
