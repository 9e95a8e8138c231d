import { type Kysely, sql } from 'kysely';
import type { ChatKey, RunId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { insertInto, statement } from '../statement.ts';
import { CHUNK_ORDER } from './locks.ts';
import { raw } from './raw.ts';

/**
 * Idempotent: a chunk keeps its bounds until its commit is acknowledged, so a second write after an unknown commit
 * changes nothing.
 */
export const insertChunk = insertInto('event_chunks', ['run_id', 'first_id', 'last_id', 'data'], {
  unlessExists: ['run_id', 'first_id'],
  gathers: { order: CHUNK_ORDER, types: { first_id: 'bigint', last_id: 'bigint' } },
});

/** Selects the chunk that contains event `after + 1`, or the next one, by the primary key. */
const selectChunk = (table: 'event_chunks' | 'compacted_chunks', p: { runId: RunId; after: number }) => {
  const chunks = sql.table(table);
  return sql`select first_id, last_id, data from ${chunks} where run_id = ${p.runId} and first_id >= coalesce((
      select c.first_id from ${chunks} c where c.run_id = ${p.runId} and c.first_id <= ${p.after}
        and c.last_id > ${p.after} order by c.first_id desc limit 1), cast(${p.after} as bigint) + 1)
    order by first_id limit 1`;
};

/**
 * A compacted run's chunks can still exist, but its readers get only the compacted ones. Both end with the same event,
 * so either both tables have a next chunk or none.
 */
export const chunkAfter = statement('chunk after', (db, p: { runId: RunId; after: number }) =>
  raw(
    db,
    sql<{ first_id: number; last_id: number; data: string }>`
      select first_id, last_id, data from (
        select 0 as source, first_id, last_id, data from (${selectChunk('compacted_chunks', p)}) compacted
        union all select 1, first_id, last_id, data from (${selectChunk('event_chunks', p)}) whole) found
      order by source limit 1`,
  ),
);

export const allChunks = statement('all chunks', (db, p: { runId: RunId }) =>
  db
    .selectFrom('event_chunks')
    .select(['first_id', 'last_id', 'data'])
    .where('run_id', '=', p.runId)
    .orderBy('first_id'),
);

const selectLast = (table: 'event_chunks' | 'compacted_chunks', runId: RunId) =>
  sql`select last_id from ${sql.table(table)} where run_id = ${runId} order by first_id desc limit 1`;

export const lastStoredId = statement('last stored id', (db, p: { runId: RunId }) =>
  raw(
    db,
    sql<{ last_id: number }>`
      select last_id from (select last_id from (${selectLast('event_chunks', p.runId)}) whole
        union all select last_id from (${selectLast('compacted_chunks', p.runId)}) compacted) found
      order by last_id desc limit 1`,
  ),
);

/** The runs that were made in a chat. A fork also has messages by runs from another chat, which keeps their events. */
const ownRuns = (db: Kysely<Schema>, chatKey: ChatKey) =>
  db
    .selectFrom('messages')
    .innerJoin('runs', 'runs.run_id', 'messages.run_id')
    .select('messages.run_id')
    .where('messages.chat_key', '=', chatKey)
    .where('runs.chat_key', '=', chatKey);

export const deleteChunksOfChat = statement('delete chunks of chat', (db, p: { chatKey: ChatKey }) =>
  db.deleteFrom('event_chunks').where('run_id', 'in', ownRuns(db, p.chatKey)),
);

/** Called after `deleteChunksOfChat`: a compaction locks a chunk, so this statement sees what it wrote. */
export const deleteCompactedOfChat = statement('delete compacted of chat', (db, p: { chatKey: ChatKey }) =>
  db.deleteFrom('compacted_chunks').where('run_id', 'in', ownRuns(db, p.chatKey)),
);

/** The runs whose messages only this chat has. */
const unsharedRuns = (db: Kysely<Schema>, chatKey: ChatKey) =>
  db
    .selectFrom('messages')
    .select('run_id')
    .where('chat_key', '=', chatKey)
    .where((m) =>
      m.not(
        m.exists(
          m
            .selectFrom('shared_runs')
            .select('shared_runs.chat_key')
            .whereRef('shared_runs.run_id', '=', 'messages.run_id')
            .where('shared_runs.chat_key', '<>', chatKey),
        ),
      ),
    );

/** Leaves the steps that another chat shares. Called after `lockSharedRuns`. */
export const deleteStepsOfChat = statement('delete steps of chat', (db, p: { chatKey: ChatKey }) =>
  db.deleteFrom('steps').where('run_id', 'in', unsharedRuns(db, p.chatKey)),
);

/** Like `deleteStepsOfChat`. */
export const deleteUnfinishedOfChat = statement('delete unfinished of chat', (db, p: { chatKey: ChatKey }) =>
  db.deleteFrom('unfinished_steps').where('run_id', 'in', unsharedRuns(db, p.chatKey)),
);

/** What requests added to the chat's runs. */
export const deleteExtrasOfChat = statement('delete extras of chat', (db, p: { chatKey: ChatKey }) =>
  db
    .updateTable('runs')
    .set({ extras_json: null, client_tools_json: null, answers_json: null })
    .where('run_id', 'in', ownRuns(db, p.chatKey))
    .where(sql<boolean>`(extras_json is not null or client_tools_json is not null or answers_json is not null)`),
);
