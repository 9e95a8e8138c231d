import { sql } from 'kysely';
import type { ChatId, ChatKey, IntegrationId, RunId } from '../../domain/ids.ts';
import type { ChatsTable } from '../chat-tables.ts';
import { GENERATION_WITH_FORKS } from '../generation.ts';
import { NODE_ALIVE } from '../schema.ts';
import { pickColumns, type RowOf, statement } from '../statement.ts';
import type { PositionRange } from './chats.ts';
import type { JsonRows } from './file-batches.ts';
import { raw } from './raw.ts';
import { soughtId } from './sought-id.ts';

/** Reads what a fork needs to know about the other chat. */
export const forkSource = statement('fork source', (db, p: { chatKey: ChatKey }) =>
  db
    .selectFrom('chats')
    .select(['chat_key', 'num_messages', 'text_bytes', 'summary_run_id', 'deleted_at'])
    .where('chat_key', '=', p.chatKey),
);

export type ForkSourceRow = RowOf<typeof forkSource>;

/** The run's positions in the chat. No row if the chat does not have the run. */
export const runPositions = statement('run positions', (db, p: { chatKey: ChatKey; runId: string }) =>
  db
    .selectFrom('messages')
    .select(['position', 'role'])
    .where('chat_key', '=', p.chatKey)
    .where('run_id', '=', soughtId<RunId>(p.runId))
    .orderBy('position'),
);

export const messageAt = statement('message at', (db, p: { chatKey: ChatKey; position: number }) =>
  db
    .selectFrom('messages')
    .select(['run_id', 'role', 'status'])
    .where('chat_key', '=', p.chatKey)
    .where('position', '=', p.position),
);

/** The first run's position in the chat. No row if it has none: imported turns have no run. */
export const firstRunPosition = statement('first run position', (db, p: { chatKey: ChatKey }) =>
  db
    .selectFrom('messages')
    .select('position')
    .where('chat_key', '=', p.chatKey)
    .where(sql<boolean>`exists (select 1 from runs where runs.run_id = messages.run_id)`)
    .orderBy('position')
    .limit(1),
);

export const messageTexts = statement('message texts', (db, p: PositionRange) =>
  db
    .selectFrom('messages')
    .select('content_json')
    .where('chat_key', '=', p.chatKey)
    .where('position', '>=', p.from)
    .where('position', '<', p.before),
);

/** The run's own chat, and whether the run is the newest one there. The run must belong to the same member. */
export const chatOfRun = statement(
  'chat of run',
  (db, p: { integrationId: IntegrationId; consumerId: string | null; runId: string }) =>
    db
      .selectFrom('runs')
      .innerJoin('chats', 'chats.chat_key', 'runs.chat_key')
      .select(['runs.run_id', 'chats.chat_key', 'chats.chat_id'])
      .select(
        sql<RunId | null>`(select m.run_id from messages m where m.chat_key = chats.chat_key
          order by m.position desc limit 1)`.as('newest_run_id'),
      )
      .where('runs.run_id', '=', soughtId<RunId>(p.runId))
      .where('runs.integration_id', '=', p.integrationId)
      .where('chats.consumer_id', 'is not distinct from', p.consumerId)
      .where('chats.deleted_at', 'is', null),
);

export const askingRun = statement('asking run', (db, p: { runId: RunId }) =>
  db.selectFrom('runs').select(['agent', 'status', 'journal_format', 'extras_json']).where('run_id', '=', p.runId),
);

export const insertFork = statement(
  'insert fork',
  (
    db,
    p: Pick<
      ChatsTable,
      | 'chat_key'
      | 'integration_id'
      | 'chat_id'
      | 'alias'
      | 'consumer_id'
      | 'num_messages'
      | 'text_bytes'
      | 'created_at'
      | 'updated_at'
    > & {
      title_json: string | null;
      metadata_json: string | null;
      questions_json: string | null;
      asking_run_id: RunId | null;
      summary_run_id: RunId | null;
      transient: number;
      forked_from: ChatKey;
      forked_run_id: RunId | null;
    },
  ) => db.insertInto('chats').values(pickColumns(p, FORK_COLUMNS)),
);

const FORK_COLUMNS = [
  'chat_key',
  'integration_id',
  'chat_id',
  'alias',
  'consumer_id',
  'num_messages',
  'text_bytes',
  'title_json',
  'metadata_json',
  'questions_json',
  'asking_run_id',
  'summary_run_id',
  'transient',
  'forked_from',
  'forked_run_id',
  'created_at',
  'updated_at',
] as const;

/** Copies the messages before a position. They keep their runs. */
export const copyMessages = statement(
  'copy messages',
  (db, p: { chatKey: ChatKey; forkKey: ChatKey; before: number }) =>
    raw<never>(
      db,
      sql<never>`insert into messages (message_id, chat_key, position, run_id, role, status, agent, content_json, error_code,
          error_message, created_at, sandbox_files_json)
        select message_id, cast(${p.forkKey} as text), position, run_id, role, status, agent, content_json, error_code,
          error_message, created_at, sandbox_files_json
        from messages where chat_key = ${p.chatKey} and position < ${p.before}`,
    ),
);

/** Called after the messages were copied. */
export const copyAttachments = statement('copy attachments', (db, p: { chatKey: ChatKey; forkKey: ChatKey }) =>
  raw<never>(
    db,
    sql<never>`insert into attachments (chat_key, run_id, position, kind, url, url_key, filename_json, detail, form,
        media_type, pages, size_bytes, blob_key)
      select cast(${p.forkKey} as text), run_id, position, kind, url, url_key, filename_json, detail, form,
        media_type, pages, size_bytes, blob_key
      from attachments where chat_key = ${p.chatKey}
        and run_id in (select run_id from messages where chat_key = ${p.forkKey})`,
  ),
);

/** Returns a row if a sweep has deleted a blob that the chat needs. */
export const lostBlobOfChat = statement('lost blob of chat', (db, p: { chatKey: ChatKey }) =>
  db
    .selectFrom('attachments as a')
    .select('a.blob_key')
    .where('a.chat_key', '=', p.chatKey)
    .where('a.blob_key', 'is not', null)
    .where(sql<boolean>`not exists (select 1 from blobs b where b.blob_key = a.blob_key)`)
    .limit(1),
);

/** The paths that the chat's runs see: they were announced there, or a run there made the file. */
export const pathsOfChat = statement('paths of chat', (db, p: { chatKey: ChatKey }) =>
  db
    .selectFrom('announced_files')
    .select('path')
    .where('chat_key', '=', p.chatKey)
    .union(db.selectFrom('files').select('path').where('chat_key', '=', p.chatKey).where('freed_at', 'is', null)),
);

/** The files that messages at these positions named. */
export const namedFiles = statement('named files', (db, p: PositionRange) =>
  db
    .selectFrom('messages')
    .select('sandbox_files_json')
    .where('chat_key', '=', p.chatKey)
    .where('position', '>=', p.from)
    .where('position', '<', p.before)
    .where('sandbox_files_json', 'is not', null),
);

/** Steps that changed files, by runs whose messages are at these positions. */
export const changingSteps = statement('changing steps', (db, p: PositionRange) =>
  db
    .selectFrom('steps')
    .select('record_json')
    .where('run_id', 'in', (eb) =>
      eb
        .selectFrom('messages')
        .select('run_id')
        .where('chat_key', '=', p.chatKey)
        .where('position', '>=', p.from)
        .where('position', '<', p.before),
    )
    .where('kind', '=', sql<'tool'>`'tool'`)
    .where(sql<boolean>`record_json like '%"files":[{%'`),
);

/** `paths`: `{path}`. */
export const announceFiles = statement('announce files', (db, p: { chatKey: ChatKey; paths: JsonRows }) =>
  raw<never>(
    db,
    sql<never>`insert into announced_files (chat_key, path)
      select cast(${p.chatKey} as text), j.value ->> 'path' from json_each(${p.paths}) as j`,
  ),
);

/** The fork takes over the chat's id and alias. */
export const replaceByFork = statement(
  'replace by fork',
  (db, p: { chatKey: ChatKey; forkKey: ChatKey; newChatId: ChatId; now: number }) =>
    db
      .updateTable('chats')
      .set((eb) => ({
        chat_id: p.newChatId,
        alias: null,
        former_chat_id: eb.ref('chat_id'),
        former_alias: eb.ref('alias'),
        replaced_by: p.forkKey,
        updated_at: p.now,
      }))
      .where('chat_key', '=', p.chatKey)
      .where('deleted_at', 'is', null),
);

/** What a fork that replaces the chat takes over. */
export const replacedChat = statement('replaced chat', (db, p: { chatKey: ChatKey }) =>
  db
    .selectFrom('chats')
    .select(['alias', 'title_json', 'metadata_json', 'created_at', 'transient'])
    .where('chat_key', '=', p.chatKey)
    .where('deleted_at', 'is', null),
);

export type ReplacedChatRow = RowOf<typeof replacedChat>;

/** The chats that are deleted with this one: the chats whose id it took over, and its transient forks. */
export const chatsDeletedWith = statement('chats deleted with', (db, p: { chatKey: ChatKey }) => {
  const chats = db.selectFrom('chats').select('chat_key').where('deleted_at', 'is', null);
  // With `or`, SQLite would read all chats.
  return chats
    .where('replaced_by', '=', p.chatKey)
    .union(chats.where('forked_from', '=', p.chatKey).where('transient', '=', sql<number>`1`))
    .orderBy('chat_key');
});

/** A node that knows no forks. It would delete the steps of a run with the first chat that has its messages. */
export const nodeWithoutForks = statement('node without forks', (db, _: Record<string, never>) =>
  db
    .selectFrom('nodes')
    .select('node_id')
    .where('dead', '=', NODE_ALIVE)
    .where('generation', '<', sql.lit(GENERATION_WITH_FORKS))
    .limit(1),
);
