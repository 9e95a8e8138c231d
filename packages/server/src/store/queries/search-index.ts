import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ChatKey, IntegrationId, RunId } from '../../domain/ids.ts';
import { TEXT_CHARACTERS } from '../../domain/search/words.ts';
import type { Schema } from '../schema.ts';
import { type RowOf, statement } from '../statement.ts';
import type { StoreKind } from '../store.ts';
import type { JsonRows } from './file-batches.ts';
import { raw } from './raw.ts';
import { soughtId } from './sought-id.ts';

/* What the index's loop reads and writes. */

export const searchState = statement('search state', (db, _: object) =>
  db.selectFrom('search_state').select(['position', 'rest']),
);

/** Returns no row if another node holds the lock: one node at a time adds to the index. */
export const lockSearchState = statement(
  'lock search state',
  (db, _: object) => db.selectFrom('search_state').select('id').forUpdate().skipLocked(),
  { locks: true },
);

/** Larger than every chat's key. */
const ALL_CHATS = 'chat_~';

export const beginSearchState = statement('begin search state', (db, p: { position: string }) =>
  db
    .insertInto('search_state')
    .values({ id: 1, position: p.position, rest: ALL_CHATS })
    .onConflict((c) => c.doNothing()),
);

export const moveSearchPosition = statement('move search position', (db, p: { position: string }) =>
  db.updateTable('search_state').set({ position: p.position }).where('position', '<', p.position),
);

export const moveSearchRest = statement('move search rest', (db, p: { rest: string | null }) =>
  db.updateTable('search_state').set({ rest: p.rest }),
);

/** A time that every node's clock has reached. No row on the embedded store, and if no node has raised its heartbeat. */
export const oldestBeat = statement('oldest beat', (db, _: object) =>
  raw<{ seen_at: number }>(
    db,
    sql<{ seen_at: number }>`select min(b.seen_at) as seen_at from nodes n join node_beats b on b.node_id = n.node_id
      where n.dead = 0 and b.seen_at > 0 having count(*) > 0`,
  ),
);

/** Finds a turn's texts. */
export interface Turn {
  readonly run_id: RunId;
  readonly chat_key: ChatKey;
}

const hasNoDoc = sql<boolean>`not exists (select 1 from search_docs d where d.run_id = runs.run_id)`;

/** A turn, and the bytes that `turnTexts` and `turnRecords` read of it. */
export interface SizedTurn extends Turn {
  readonly bytes: number;
}

/** So many characters have the searched beginning, however it is escaped. */
const JSON_CHARACTERS = 1 + 12 * TEXT_CHARACTERS;

/** Reads a turn's text. The turn is near its chat's end, so it reads from there. */
const ofMessage = (role: 'user' | 'assistant', value: RawBuilder<unknown>, run: Value, chat: Value) => sql`(
  select ${value} from messages o where o.chat_key = ${chat} and o.run_id = ${run} and o.role = ${sql.lit(role)}
  order by o.position desc limit 1)`;

type Value = RawBuilder<unknown>;

const turnBytes = (run: Value, chat: Value) => {
  const sizeOfText = (role: 'user' | 'assistant') => ofMessage(role, sql`octet_length(o.content_json)`, run, chat);
  return sql<number>`cast(coalesce(${sizeOfText('user')}, 0) + coalesce(${sizeOfText('assistant')}, 0)
    + coalesce((select sum(octet_length(f.record_json)) from steps f
      where f.run_id = ${run} and f.status = 'failed'), 0) as bigint)`;
};

const selectBytes = (table: string) => turnBytes(sql.ref(`${table}.run_id`), sql.ref(`${table}.chat_key`)).as('bytes');

/** Ended runs that are not in the index, by their ids. */
export const endedAfter = statement('ended after', (db, p: { position: string; limit: number }) =>
  db
    .selectFrom('runs')
    .innerJoin('chats', 'chats.chat_key', 'runs.chat_key')
    .select(['runs.run_id', 'runs.chat_key', selectBytes('runs')])
    .where('runs.run_id', '>', soughtId<RunId>(p.position))
    .where('runs.completed_at', 'is not', null)
    .where('chats.deleted_at', 'is', null)
    .where(hasNoDoc)
    .orderBy('runs.run_id')
    .limit(p.limit),
);

/** Runs that were admitted late: the position has passed their ids before their commit. */
export const lateRuns = statement('late runs', (db, p: { position: string; limit: number }) =>
  db
    .selectFrom('active_runs as a')
    .select(['a.run_id', 'a.chat_key'])
    .where('a.run_id', '<=', soughtId<RunId>(p.position))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('search_waiting as w')
            .select('w.run_id')
            .whereRef('w.chat_key', '=', 'a.chat_key')
            .whereRef('w.run_id', '=', 'a.run_id'),
        ),
      ),
    )
    .limit(p.limit),
);

/** What waits and can be added now: runs that have ended, and whole chats, with an empty id. */
export const dueWaiting = statement('due waiting', (db, p: { now: number; limit: number }) =>
  raw<WaitingTurn & { readonly bytes: number }>(
    db,
    sql`select w.run_id, w.chat_key, ${selectBytes('w')} from search_waiting w left join runs r on r.run_id = w.run_id
      where w.due_at <= ${p.now} and (w.run_id = '' or r.completed_at is not null) limit ${p.limit}`,
  ),
);

/** The id is empty for a whole chat. */
export interface WaitingTurn {
  readonly run_id: RunId | '';
  readonly chat_key: ChatKey;
}

export type WaitingRow = RowOf<typeof dueWaiting>;

/** `turns`: `{run, chat}`. */
export const waitForRuns = statement('wait for runs', (db, p: { turns: JsonRows }) =>
  raw<never>(
    db,
    sql<never>`insert into search_waiting (chat_key, run_id, due_at)
      select j.value ->> 'chat', j.value ->> 'run', 0 from json_each(${p.turns}) as j where true
      on conflict do nothing`,
  ),
);

/** The chat's turns that are not in the index are added at this time. */
export const waitForChat = statement('wait for chat', (db, p: { chatKey: ChatKey; dueAt: number }) =>
  db
    .insertInto('search_waiting')
    .values({ chat_key: p.chatKey, run_id: '', due_at: p.dueAt })
    .onConflict((c) => c.columns(['chat_key', 'run_id']).doUpdateSet({ due_at: p.dueAt })),
);

/** Runs that are not in the index when the position passes them: most are active. */
export const waitForOthers = statement('wait for others', (db, p: { from: string; to: string }) =>
  raw<never>(
    db,
    sql<never>`insert into search_waiting (chat_key, run_id, due_at)
      select runs.chat_key, runs.run_id, 0 from runs
      where runs.run_id > ${p.from} and runs.run_id <= ${p.to} and ${hasNoDoc}
      on conflict do nothing`,
  ),
);

/** `turns`: `{run, chat}`. */
export const endWaiting = statement('end waiting', (db, p: { turns: JsonRows }) =>
  raw<never>(
    db,
    sql<never>`delete from search_waiting where (chat_key, run_id) in
      (select j.value ->> 'chat', j.value ->> 'run' from json_each(${p.turns}) as j)`,
  ),
);

/** The walk's next chats, newest first. */
export const chatsToVisit = statement('chats to visit', (db, p: { rest: string; limit: number }) =>
  db
    .selectFrom('chats')
    .select('chat_key')
    .where('chat_key', '<', soughtId<ChatKey>(p.rest))
    .orderBy('chat_key', 'desc')
    .limit(p.limit),
);

/** These chats' turns that have ended and are not in the index. `keys`: `{chat}`. */
export const unindexedTurns = statement('unindexed turns', (db, p: { keys: JsonRows; limit: number }) =>
  raw<SizedTurn>(
    db,
    sql<SizedTurn>`
      select m.run_id, m.chat_key, ${selectBytes('m')} from json_each(${p.keys}) as j
      cross join messages m left join runs on runs.run_id = m.run_id
      where m.chat_key = j.value ->> 'chat' and m.role = 'user'
        and (runs.run_id is null or runs.completed_at is not null)
        and not exists (select 1 from search_docs d where d.run_id = m.run_id)
      limit ${p.limit}`,
  ),
);

/**
 * Keeps these chats' messages from being deleted. It conflicts with nothing that a run does. A chat that was just deleted has no
 * messages any more. `turns`: `{chat}`.
 */
export const keepChats = statement(
  'keep chats',
  (db, p: { turns: JsonRows }) =>
    raw<never>(
      db,
      sql<never>`select chat_key from chats where chat_key in (select j.value ->> 'chat' from json_each(${p.turns}) as j)
        order by chat_key for key share`,
    ),
  { locks: true },
);

const ROW = { run: sql`j.value ->> 'run'`, chat: sql`j.value ->> 'chat'` };

const readText = (role: 'user' | 'assistant') =>
  ofMessage(role, sql`substr(o.content_json, 1, ${sql.lit(JSON_CHARACTERS)})`, ROW.run, ROW.chat);

/** Reads turns' texts. Null in `message_json` if the chat was deleted. `turns`: `{run, chat}`. */
export const turnTexts = statement('turn texts', (db, p: { turns: JsonRows }) =>
  raw<{
    run_id: RunId;
    chat_key: ChatKey;
    integration_id: IntegrationId | null;
    error_message: string | null;
    message_json: string | null;
    answer_json: string | null;
    tools: string | null;
  }>(
    db,
    sql`select j.value ->> 'run' as run_id, j.value ->> 'chat' as chat_key, r.error_message,
        (select c.integration_id from chats c where c.chat_key = j.value ->> 'chat') as integration_id,
        ${readText('user')} as message_json, ${readText('assistant')} as answer_json,
        (select string_agg(t.tool, ' ') from (
          select s.tool from steps s where s.run_id = j.value ->> 'run' and s.tool is not null
          union select u.tool from unfinished_steps u where u.run_id = j.value ->> 'run' and u.tool is not null) t) as tools
      from json_each(${p.turns}) as j left join runs r on r.run_id = j.value ->> 'run'`,
  ),
);

/** In the order of the turns. `turns`: `{run, chat}`. */
export const turnSizes = statement('turn sizes', (db, p: { turns: JsonRows }) =>
  raw<{ bytes: number }>(
    db,
    sql<{ bytes: number }>`select ${turnBytes(ROW.run, ROW.chat)} as bytes
      from json_each(${p.turns}) as j order by cast(j.key as bigint)`,
  ),
);

/** JSON with errors and more tool names: records of calls that failed or gave no result, and questions. `turns`: `{run, chat}`. */
export const turnRecords = statement('turn records', (db, p: { turns: JsonRows }) =>
  raw<{ run_id: RunId; source: 'failed' | 'unfinished' | 'question'; json: string }>(
    db,
    sql`
      select s.run_id, 'failed' as source, s.record_json as json
        from json_each(${p.turns}) as j cross join steps s
        where s.run_id = j.value ->> 'run' and s.status = 'failed'
      union all
      select u.run_id, 'unfinished', u.record_json from json_each(${p.turns}) as j cross join unfinished_steps u
        where u.run_id = j.value ->> 'run'
      union all
      select q.run_id, 'question', q.question_json from json_each(${p.turns}) as j cross join asked_questions q
        where q.chat_key = j.value ->> 'chat' and q.run_id = j.value ->> 'run' and q.question_json is not null`,
  ),
);

export type TurnRecord = RowOf<typeof turnRecords>;

const insertDocs = (words: RawBuilder<unknown>) => (db: Kysely<Schema>, p: { docs: JsonRows }) =>
  raw<never>(
    db,
    sql<never>`insert into search_docs (run_id, chat_key, words)
      select j.value ->> 'run', j.value ->> 'chat', ${words} from json_each(${p.docs}) as j where true
      on conflict (run_id) do nothing`,
  );

/** `docs`: `{run, chat, words}`. The words have spaces between them. */
export const INSERT_DOCS = {
  sqlite: statement('insert docs', insertDocs(sql`' ' || (j.value ->> 'words') || ' '`)),
  postgres: statement('insert docs', insertDocs(sql`array_to_tsvector(string_to_array(j.value ->> 'words', ' '))`)),
} as const satisfies Record<StoreKind, unknown>;

/** Chats that begin with imported turns which are not in the index. `turns`: `{chat}`. */
export const importedChats = statement('imported chats', (db, p: { turns: JsonRows }) =>
  raw<{ chat_key: ChatKey }>(
    db,
    sql<{ chat_key: ChatKey }>`
      select distinct m.chat_key from json_each(${p.turns}) as j cross join messages m
      where m.chat_key = j.value ->> 'chat' and m.position = 1 and m.run_id like 'imp~_%' escape '~'
        and not exists (select 1 from search_docs d where d.run_id = m.run_id)`,
  ),
);

/** The index's rows that only these chats have, each with one of them and the length of its words. For the embedded store. `keys`: `{chat}`. */
export const docsOfChats = statement('docs of chats', (db, p: { keys: JsonRows }) =>
  raw<{ doc: number; chat_key: ChatKey; bytes: number }>(
    db,
    sql<{ doc: number; chat_key: ChatKey; bytes: number }>`
      select d.doc, min(m.chat_key) as chat_key, octet_length(d.words) as bytes from json_each(${p.keys}) as j
      cross join messages m cross join search_docs d
      where m.chat_key = j.value ->> 'chat' and m.role = 'user' and d.run_id = m.run_id
        and not exists (select 1 from shared_runs s where s.run_id = m.run_id
          and s.chat_key not in (select k.value ->> 'chat' from json_each(${p.keys}) as k))
      group by d.doc`,
  ),
);

export const deleteDoc = statement('delete doc', (db, p: { doc: number }) =>
  db.deleteFrom('search_docs').where('doc', '=', p.doc),
);
