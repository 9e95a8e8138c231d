import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ChatKey, IntegrationId } from '../../domain/ids.ts';
import type { RunStatus } from '../../domain/run/run-state.ts';
import type { SoughtWord, SoughtWords } from '../../domain/search/words.ts';
import type { Schema } from '../schema.ts';
import { statement } from '../statement.ts';
import type { StoreKind } from '../store.ts';
import { type ChatFilter, type ChatPage, listChats, ORDER_COLUMNS } from './chats.ts';
import type { JsonRows } from './file-batches.ts';
import { raw } from './raw.ts';
import { type RunFilter, runsOfPage } from './runs.ts';
import type { Turn } from './search-index.ts';

/* What a search reads. Words have only letters and digits, so no character of theirs means anything in a query. */

type Db = Kysely<Schema>;

const toTsquery = (words: SoughtWords): string =>
  words.map(({ text, isPrefix }) => `'${text}'${isPrefix ? ':*' : ''}`).join(' & ');

/** True if the row `d` in `search_docs` has the word. Null if there is no row. */
const hasWord = (kind: StoreKind, { text, isPrefix }: SoughtWord): RawBuilder<boolean | null> =>
  kind === 'postgres'
    ? sql`d.words @@ cast(${toTsquery([{ text, isPrefix }])} as tsquery)`
    : sql`instr(d.words, ${` ${text}${isPrefix ? '' : ' '}`}) > 0`;

const hasWords = (kind: StoreKind, words: SoughtWords): RawBuilder<boolean | null> =>
  kind === 'postgres'
    ? sql`d.words @@ cast(${toTsquery(words)} as tsquery)`
    : sql`${sql.join(
        words.map((word) => hasWord(kind, word)),
        sql` and `,
      )}`;

/** What the comparison with one word reads of the row `d`. On PostgreSQL it is compressed. */
const wordBytes = (kind: StoreKind): RawBuilder<number> =>
  kind === 'postgres' ? sql`coalesce(pg_column_size(d.words), 0)` : sql`coalesce(octet_length(d.words), 0)`;

/** On PostgreSQL: turns with all these words. */
export const turnsWith = (words: SoughtWords, limit: number) => (db: Db) =>
  raw<Turn>(
    db,
    // Not merged with the limit, with which PostgreSQL would read the table in any order until it has found enough.
    sql<Turn>`with found as materialized (
        select run_id, chat_key from search_docs d where d.words @@ cast(${toTsquery(words)} as tsquery))
      select run_id, chat_key from found limit ${limit}`,
  );

/** On SQLite: the last number in the index. */
export const lastDoc = (db: Db) =>
  raw<{ doc: number | null }>(db, sql<{ doc: number | null }>`select max(doc) as doc from search_docs`);

/** On SQLite: turns that match the expression. */
export const turnsMatching = (expression: string, limit: number) => (db: Db) =>
  raw<Turn>(
    db,
    sql<Turn>`select d.run_id, d.chat_key from search_index cross join search_docs d
      where search_index match ${expression} and d.doc = search_index.rowid limit ${limit}`,
  );

/** On SQLite: the first word in the index from this one on. */
export const nextTerm = (from: string) => (db: Db) =>
  raw<{ term: string }>(db, sql<{ term: string }>`select term from search_terms where term >= ${from} limit 1`);

/** Turns that the loop has not added yet, as far as it knows the chat or the run. */
export const turnsOutside = statement(
  'turns outside',
  (db, { integrationId, position, limit }: { integrationId: IntegrationId; position: string; limit: number }) =>
    raw<{ run_id: string; chat_key: ChatKey }>(
      db,
      // The integration as an expression, so that SQLite reads the runs by their ids.
      sql<{ run_id: string; chat_key: ChatKey }>`
      select runs.run_id, runs.chat_key from runs
      where runs.run_id > ${position} and runs.integration_id || '' = ${integrationId}
        and not exists (select 1 from search_docs d where d.run_id = runs.run_id)
      union all
      select w.run_id, w.chat_key from search_waiting w cross join chats c
      where c.chat_key = w.chat_key and c.integration_id = ${integrationId}
      limit ${limit}`,
    ),
);

/** Whole chats' turns that are not in the index. `keys`: `{chat}`. */
export const unindexedInChats = (keys: JsonRows) => (db: Db) =>
  raw<Turn>(
    db,
    sql<Turn>`select m.run_id, m.chat_key from json_each(${keys}) as j cross join messages m
      where m.chat_key = j.value ->> 'chat' and m.role = 'user'
        and not exists (select 1 from search_docs d where d.run_id = m.run_id)`,
  );

/** The chats that have these turns, forks included. `turns`: `{run, chat}`. */
export const chatsOfTurns = (turns: JsonRows) => (db: Db) =>
  raw<{ chat_key: ChatKey }>(
    db,
    sql<{ chat_key: ChatKey }>`select j.value ->> 'chat' as chat_key from json_each(${turns}) as j
      union select s.chat_key from json_each(${turns}) as j cross join shared_runs s where s.run_id = j.value ->> 'run'`,
  );

export interface FoundRun extends Turn {
  readonly created_at: number;
  readonly status: RunStatus;
  /** 1 or 0. Null if the run is not in the index. */
  readonly matches: number | null;
  /** What was compared with each word. */
  readonly bytes: number;
}

/**
 * A page of listed runs, and whether each has all these words. Deleted chats' texts are not searched. The page ends after the row
 * with which its rows have more than `maxBytes` of words.
 */
export const foundRuns =
  (kind: StoreKind, filter: Omit<RunFilter, 'texts'>, words: SoughtWords, maxBytes: number) => (db: Db) =>
    db
      .with(
        (cte) => cte('sized').materialized(),
        (cte) =>
          cte
            .selectFrom('runs')
            .innerJoin('chats', 'chats.chat_key', 'runs.chat_key')
            .leftJoin('search_docs as d', 'd.run_id', 'runs.run_id')
            .select(['runs.run_id', 'runs.chat_key', 'runs.created_at', 'runs.status', 'chats.deleted_at'])
            .select(wordBytes(kind).as('bytes'))
            .where('runs.run_id', 'in', runsOfPage(db, filter)),
      )
      .with(
        (cte) => cte('listed').materialized(),
        (cte) =>
          cte
            .selectFrom('sized')
            .selectAll()
            .select(sql<number>`sum(bytes) over (order by created_at desc, run_id desc)`.as('up_to')),
      )
      .selectFrom('listed')
      .leftJoin('search_docs as d', 'd.run_id', 'listed.run_id')
      .select(['listed.run_id', 'listed.chat_key', 'listed.created_at', 'listed.status', 'listed.bytes'])
      .select(
        sql<number | null>`case when listed.deleted_at is not null then 0 when d.run_id is null then null
          when ${hasWords(kind, words)} then 1 else 0 end`.as('matches'),
      )
      .where(sql<boolean>`listed.up_to - listed.bytes <= ${maxBytes}`)
      .orderBy('listed.created_at', 'desc')
      .orderBy('listed.run_id', 'desc');

export interface ListedChat {
  readonly id: ChatKey;
  readonly created_at: number;
  readonly num_messages: number;
}

/** A page of listed chats, each with its position in the list. */
export const listedChats = (integrationId: IntegrationId, filter: ChatFilter, page: ChatPage) => (db: Db) =>
  listChats(
    integrationId,
    filter,
    page,
  )(db)
    .clearSelect()
    .select([
      'chats.chat_key as id',
      'chats.num_messages',
      sql.ref<number>(ORDER_COLUMNS[page.order]).as('created_at'),
    ]);

/** Which messages of chats are read. */
interface ChatPart {
  /** In this order: `{chat, from}`, with the first position. */
  readonly chats: JsonRows;
  /** The first position that is not read. */
  readonly before: number;
  readonly maxBytes: number;
}

export type WordsOfChat = Readonly<Record<`w${number}`, number>> & {
  readonly chat_key: ChatKey;
  /** 1 if a turn is not in the index. */
  readonly unread: number;
  /** The last turn that was read. */
  readonly read_to: number;
  /** What was compared with each word. */
  readonly bytes: number;
};

/**
 * Tells for each chat which words its turns have: `w0`, `w1` … It ends after the turn with which the turns have more than `maxBytes`
 * of words.
 */
export const wordsOfChats = (kind: StoreKind, { chats, before, maxBytes }: ChatPart, words: SoughtWords) => {
  const flag = (condition: RawBuilder<boolean | null>) => sql`max(case when ${condition} then 1 else 0 end)`;
  const columns = words.map((word, index) => sql`${flag(hasWord(kind, word))} as ${sql.ref(`w${index}`)}`);
  return (db: Db) =>
    raw<WordsOfChat>(
      db,
      sql`with sized as materialized (
          select cast(j.key as integer) as item, m.chat_key, m.position, m.run_id, ${wordBytes(kind)} as bytes
          from json_each(${chats}) as j cross join messages m left join search_docs d on d.run_id = m.run_id
          where m.chat_key = j.value ->> 'chat' and m.role = 'user'
            and m.position >= cast(j.value ->> 'from' as integer) and m.position < ${before}),
        listed as materialized (select sized.*, sum(bytes) over (order by item, position) as up_to from sized)
        select l.chat_key, max(l.position) as read_to, cast(sum(l.bytes) as bigint) as bytes,
          ${flag(sql`d.run_id is null`)} as unread, ${sql.join(columns)}
        from listed l left join search_docs d on d.run_id = l.run_id
        where l.up_to - l.bytes <= ${maxBytes}
        group by l.chat_key`,
    );
};
