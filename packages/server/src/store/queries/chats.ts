import { type Kysely, sql } from 'kysely';
import type { MemberScope } from '../../domain/account/scope.ts';
import type { ChatId, ChatKey, IntegrationId, RunId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { type RowOf, statement } from '../statement.ts';
import { isActiveIn } from './active-runs.ts';
import { chatKeyById } from './chat-ids.ts';
import { notIndexed, selectValues } from './chosen-rows.ts';
import type { JsonRows } from './file-batches.ts';
import { getPage, measureSizes, type Page } from './page.ts';
import { firstTextOfChat } from './previews.ts';

export const live = sql<boolean>`chats.deleted_at is null`;

/** A chat's status is derived from its active run and never stored (`contract-6-chat-states`). */
const activeRunId = sql<string | null>`(select a.run_id from active_runs a where ${isActiveIn('a', 'chats')})`;

export const activeRun = [
  activeRunId.as('active_run_id'),
  sql<string | null>`(select u.usage_request_id from active_runs a, runs u
    where ${isActiveIn('a', 'chats')} and u.run_id = a.run_id)`.as('active_usage_request_id'),
] as const;

const chatColumns = [
  'chats.chat_key',
  'chats.chat_id',
  'chats.alias',
  'chats.integration_id',
  'chats.consumer_id',
  'chats.num_messages',
  'chats.created_at',
  'chats.updated_at',
  'chats.deleted_at',
  'chats.title_json',
  'chats.metadata_json',
  'chats.questions_json',
  'chats.transient',
  'chats.forked_run_id',
] as const;

/** The ids that a fork or a replaced chat shows: another chat's id can change. */
const relatedChats = [
  sql<ChatId | null>`(select f.chat_id from chats f where f.chat_key = chats.forked_from)`.as('forked_from_id'),
  sql<ChatId | null>`(select r.chat_id from chats r where r.chat_key = chats.replaced_by)`.as('replaced_by_id'),
] as const;

/** The newest state has it. */
const lastingAgent = sql<string | null>`(select s.agent from chat_states s where s.chat_key = chats.chat_key
  order by s.position desc limit 1)`.as('lasting_agent');

const allChats = (db: Kysely<Schema>) =>
  db
    .selectFrom('chats')
    .select([...chatColumns, ...relatedChats, ...activeRun, firstTextOfChat, lastingAgent])
    .where(live);

const liveChats = (db: Kysely<Schema>, integrationId: IntegrationId) =>
  allChats(db).where('chats.integration_id', '=', integrationId);

/** Reads the chats by their keys: all other conditions are without an index. */
const chosenChats = (db: Kysely<Schema>, integrationId: IntegrationId, chatKeys: JsonRows) =>
  allChats(db)
    .where('chats.chat_key', 'in', selectValues<ChatKey>(chatKeys, 'chat'))
    .where(notIndexed('chats.integration_id'), '=', integrationId);

function selectChats(db: Kysely<Schema>, integrationId: IntegrationId, { status, chatKeys }: ChatFilter) {
  if (chatKeys !== undefined) return chosenChats(db, integrationId, chatKeys);
  return status === 'running' ? busyChats(db, integrationId) : liveChats(db, integrationId);
}

export const chatById = statement('chat by id', (db, p: { integrationId: IntegrationId; chatId: string }) =>
  liveChats(db, p.integrationId).where('chats.chat_key', '=', chatKeyById(p.integrationId, p.chatId)),
);

/** Reads the chats with this id or alias in one snapshot: two reads could find a new chat only by its alias. */
export const chatsInTheWay = statement(
  'chats in the way',
  (db, p: { integrationId: IntegrationId; chatId: ChatId; alias: string | null }) => {
    const chats = db.selectFrom('chats').select('chat_id').where('integration_id', '=', p.integrationId).where(live);
    // With `or`, SQLite reads all chats of the integration: 380 ms for 10 000 chats with metadata.
    const byId = chats.where('chat_key', '=', chatKeyById(p.integrationId, p.chatId));
    return byId.unionAll(chats.where('alias', '=', p.alias));
  },
);

export type ChatRow = RowOf<typeof chatById>;

export interface ChatFilter {
  /** Selects the chats that a client token reaches. Null for all. */
  readonly member: MemberScope | null;
  readonly consumerId?: string;
  readonly status?: 'idle' | 'running';
  /** In milliseconds. Selects chats whose last change is later. */
  readonly updatedAfter?: number;
  /** True selects chats with open questions, false those without. */
  readonly waiting?: boolean;
  /** Only these chats: `{chat}`. */
  readonly chatKeys?: JsonRows | undefined;
}

/** By creation, or by the last change. Both are newest first. */
export type ChatOrder = 'created' | 'updated';

const HOUR_MS = 3_600_000;
export const ORDER_COLUMNS = { created: 'chats.created_at', updated: 'chats.updated_at' } as const;

export interface ChatPage extends Page {
  readonly order: ChatOrder;
}

export const listChats = (integrationId: IntegrationId, filter: ChatFilter, page: ChatPage) => (db: Kysely<Schema>) => {
  const { member, consumerId, status, updatedAfter, waiting, chatKeys } = filter;
  const all = selectChats(db, integrationId, filter);
  const chosen = all
    // A literal, because the index has only these.
    .where(sql<boolean>`chats.transient = 0`)
    .where('chats.replaced_by', 'is', null)
    .$if(member !== null, (chats) => chats.where('chats.consumer_id', '=', member?.consumerId ?? ''))
    .$if(member !== null && member.chatId !== null, (chats) =>
      chats.where('chats.chat_key', '=', chatKeyById(integrationId, member?.chatId ?? '')),
    )
    .$if(consumerId !== undefined, (chats) => chats.where('chats.consumer_id', '=', consumerId ?? ''))
    .$if(updatedAfter !== undefined, (chats) => chats.where('chats.updated_at', '>', updatedAfter ?? 0))
    .$if(status === 'idle', (chats) => chats.where(activeRunId, 'is', null))
    .$if(status === 'running' && chatKeys !== undefined, (chats) => chats.where(activeRunId, 'is not', null))
    .$if(waiting === true, (chats) => chats.where('chats.asking_run_id', 'is not', null))
    .$if(waiting === false, (chats) => chats.where('chats.asking_run_id', 'is', null));
  const column = ORDER_COLUMNS[page.order];
  // The chats of a member, the busy ones, the waiting ones and chosen ones are few and are sorted.
  const isFew = status === 'running' || waiting === true || chatKeys !== undefined;
  const isSmall = member !== null || consumerId !== undefined || isFew;
  if (page.order === 'created' || isSmall) return getPage(chosen, page, column, 'chats.chat_key');
  const { before } = page;
  const hours = chosen
    // As in the index.
    .where('chats.updated_hour', 'is not', null)
    .$if(before !== null, (chats) => chats.where('chats.updated_hour', '<=', toHour(before?.createdAt ?? 0)))
    .$if(updatedAfter !== undefined, (chats) => chats.where('chats.updated_hour', '>=', toHour(updatedAfter ?? 0)));
  return getPage(hours.orderBy('chats.updated_hour', 'desc'), page, column, 'chats.chat_key');
};

const toHour = (timeMs: number) => Math.floor(timeMs / HOUR_MS);

/** The sizes of the titles and metadata of a page of chats. */
export const chatSizes = (integrationId: IntegrationId, filter: ChatFilter, page: ChatPage) => (db: Kysely<Schema>) =>
  measureSizes(
    listChats(integrationId, filter, page)(db),
    ORDER_COLUMNS[page.order],
    'chats.chat_key',
    sql`coalesce(octet_length(chats.title_json), 0) + coalesce(octet_length(chats.metadata_json), 0)
      + coalesce(octet_length(chats.questions_json), 0)`,
  );

/**
 * Joins the active runs to their chats. In the other order SQLite would read all chats of the integration. In SQLite a
 * cross join keeps the order of the tables.
 */
const busyChats = (db: Kysely<Schema>, integrationId: IntegrationId) =>
  db
    .selectFrom('active_runs as busy')
    .crossJoin('chats')
    .select([...chatColumns, ...relatedChats, ...activeRun, firstTextOfChat, lastingAgent])
    .where('busy.integration_id', '=', integrationId)
    .whereRef('chats.chat_key', '=', 'busy.chat_key')
    .where('chats.integration_id', '=', integrationId)
    .where(live) as unknown as ReturnType<typeof liveChats>;

export const updateChat = statement(
  'update chat',
  (db, p: { chatKey: ChatKey; titleJson: string | null; metadataJson: string | null; now: number }) =>
    db
      .updateTable('chats')
      .set({ title_json: p.titleJson, metadata_json: p.metadataJson, updated_at: p.now })
      .where('chat_key', '=', p.chatKey),
);

/** The row stays for the chat's runs, without the caller's texts. */
export const deleteChat = statement('delete chat', (db, p: { chatKey: ChatKey; now: number }) =>
  db
    .updateTable('chats')
    .set({
      deleted_at: p.now,
      updated_at: p.now,
      title_json: null,
      metadata_json: null,
      questions_json: null,
      asking_run_id: null,
      summary_run_id: null,
    })
    .where('chat_key', '=', p.chatKey),
);

export const deleteMessages = statement('delete messages', (db, p: { chatKey: ChatKey }) =>
  db.deleteFrom('messages').where('chat_key', '=', p.chatKey),
);

const messageColumns = [
  'message_id',
  'position',
  'run_id',
  'role',
  'status',
  'agent',
  'content_json',
  'error_code',
  'error_message',
  'sandbox_files_json',
  'created_at',
] as const;

/** The sizes of the messages that `messagesBefore` reads. */
export const messageSizes = statement('message sizes', (db, p: { chatKey: ChatKey; before: number; limit: number }) =>
  db
    .selectFrom('messages')
    .select(['position as created_at', sql<string>`''`.as('id')])
    .select(sql<number>`octet_length(content_json) + coalesce(octet_length(sandbox_files_json), 0)`.as('bytes'))
    .where('chat_key', '=', p.chatKey)
    .where('position', '<', sql<number>`cast(${p.before} as bigint)`)
    .orderBy('position', 'desc')
    .limit(p.limit),
);

export const messagesBefore = statement(
  'messages before',
  (db, p: { chatKey: ChatKey; before: number; limit: number }) =>
    db
      .selectFrom('messages')
      .select(messageColumns)
      .where('chat_key', '=', p.chatKey)
      // The largest position that a cursor can contain does not fit into the column's type.
      .where('position', '<', sql<number>`cast(${p.before} as bigint)`)
      .orderBy('position', 'desc')
      .limit(p.limit),
);

export type MessageRow = RowOf<typeof messagesBefore>;

/** Reads a chat's length without reading its messages. */
export const chatLength = statement('chat length', (db, p: { chatKey: ChatKey }) =>
  db.selectFrom('chats').select(['num_messages', 'text_bytes', 'summary_run_id']).where('chat_key', '=', p.chatKey),
);

/** Larger than every position: the largest value of the column's type in PostgreSQL. */
export const END_OF_CHAT = 2 ** 31 - 1;

/** A range of positions in a chat. `before` is exclusive. */
export interface PositionRange {
  readonly chatKey: ChatKey;
  readonly from: number;
  readonly before: number;
}

/** Reads the messages at these positions. */
export const history = statement('history', (db, p: PositionRange) =>
  db
    .selectFrom('messages')
    .select(['run_id', 'position', 'role', 'status', 'content_json', 'sandbox_files_json'])
    // Null for the run's answer, which is in the same turn.
    .select(
      sql<RunId | null>`case when role = 'user' then (select runs.continues from runs where runs.run_id = messages.run_id) end`.as(
        'continues',
      ),
    )
    .where('chat_key', '=', p.chatKey)
    .where('position', '>=', p.from)
    .where('position', '<', p.before)
    .orderBy('position'),
);

/** Reads the messages' runs at these positions. */
export const runsOfRange = (db: Kysely<Schema>, p: PositionRange) =>
  db
    .selectFrom('messages')
    .select('run_id')
    .where('chat_key', '=', p.chatKey)
    .where('position', '>=', p.from)
    .where('position', '<', p.before);

/** Reads the journal of these runs. */
export const historySteps = statement('history steps', (db, p: PositionRange) =>
  db
    .selectFrom('steps')
    .select(['run_id', 'kind', 'caller_agent', 'call_id', 'record_json'])
    .where('run_id', 'in', runsOfRange(db, p))
    .orderBy('run_id')
    .orderBy('step'),
);

/** The newest messages of an agent to another one in earlier runs of the chat that were answered. */
export const delegationsOfChat = statement(
  'delegations of chat',
  (db, p: { chatKey: ChatKey; runId: RunId; sender: string; recipient: string; before: number; limit: number }) =>
    db
      // A fork has messages from another chat's runs.
      .selectFrom('messages')
      .innerJoin('steps', 'steps.run_id', 'messages.run_id')
      // The first step of the loop that the call began is the recipient's.
      .innerJoin('steps as begun', (join) =>
        join.onRef('begun.run_id', '=', 'steps.run_id').onRef('begun.loop', '=', 'steps.call_id'),
      )
      .select(['steps.run_id', 'steps.record_json'])
      .where('messages.chat_key', '=', p.chatKey)
      .where('messages.role', '=', sql<'user'>`'user'`)
      .where('messages.run_id', '!=', p.runId)
      .where('messages.position', '<', p.before)
      .where('steps.tool', '=', sql<string>`'send_message'`)
      .where('steps.agent', '=', p.sender)
      .where('steps.status', '=', sql<'completed'>`'completed'`)
      .where('begun.index_in_loop', '=', sql<number>`1`)
      .where('begun.agent', '=', p.recipient)
      .orderBy('messages.position', 'desc')
      .orderBy('steps.last_event_id', 'desc')
      .limit(p.limit),
);

export const userMessageOfRun = statement('user message of run', (db, p: { chatKey: ChatKey; runId: RunId }) =>
  db
    .selectFrom('messages')
    .select(['content_json', 'sandbox_files_json', 'created_at'])
    .where('chat_key', '=', p.chatKey)
    .where('run_id', '=', p.runId)
    .where('role', '=', sql<'user'>`'user'`),
);
