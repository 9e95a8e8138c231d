import { sql } from 'kysely';
import { ERASED_IDS } from '../../domain/account/erased-ids.ts';
import type { AdmissionFactsRow } from '../../domain/admission/admission.ts';
import type { ChatId, ChatKey, IntegrationId, RunId } from '../../domain/ids.ts';
import type { MessagesTable } from '../chat-tables.ts';
import { insertInto, sameAs, statement } from '../statement.ts';
import { type PeriodDays, reservedSum, usedSum } from './allowance.ts';
import { chatKeyById } from './chat-ids.ts';
import { CHAT_ORDER, MESSAGE_ORDER, RUN_ORDER } from './locks.ts';
import { raw } from './raw.ts';

/**
 * Reads everything that admission needs for its decision, in one statement and so in one snapshot. The conditions on
 * `deleted_at` and attachments are literals, because a partial index serves only its own expression. The active run is read
 * by the request's member: a chat of another member is refused.
 */
export const admissionFacts = statement(
  'admission facts',
  (
    db,
    p: PeriodDays & {
      integrationId: IntegrationId;
      consumerId: string | null;
      usageRequestId: string | null;
      chatId: ChatId | null;
      aliasChatId: string | null;
    },
  ) => {
    const consumer = sql`${p.consumerId}`;
    return raw<AdmissionFactsRow>(
      db,
      sql<AdmissionFactsRow>`select
          i.agency, i.default_agent, i.text_only, i.allowance_unit, i.allowance_limit, i.allowance_period,
          i.max_runs_per_member, i.max_run_seconds, i.on_disconnect, i.keep_attachments, i.model as integration_model,
          i.file_access, i.member_folder, i.client_tools, i.caller_instructions, i.auto_register,
          m.active as member_active, m.own_limit as member_limit,
          r.run_id as known_run_id, r.fingerprint as known_fingerprint, r.consumer_id as known_consumer_id,
          k.chat_id as known_chat_id, k.alias as known_alias, k.deleted_at as known_chat_deleted_at,
          k.former_chat_id as known_former_chat_id, k.former_alias as known_former_alias,
          c.chat_key as chat_key, c.alias as chat_alias, c.consumer_id as chat_consumer_id,
          a.chat_key as alias_chat_key, a.chat_id as alias_chat_id, a.consumer_id as alias_consumer_id,
          coalesce(c.num_messages, a.num_messages) as chat_num_messages,
          coalesce(c.text_bytes, a.text_bytes) as chat_text_bytes,
          case when c.chat_key is null then a.questions_json else c.questions_json end as chat_questions_json,
          b.run_id as busy_run_id,
          (select u.usage_request_id from runs u where u.run_id = b.run_id) as busy_usage_request_id,
          case when exists (select 1 from attachments w where w.chat_key = coalesce(c.chat_key, a.chat_key)
            and w.url is not null and w.blob_key is null and w.form is not null) then 1 else 0 end as files_without_copy,
          case when exists (select 1 from runs e where e.integration_id = i.integration_id
            and e.usage_request_id >= ${sql.lit(ERASED_IDS.from)} and e.usage_request_id < ${sql.lit(ERASED_IDS.to)}) then 1 else 0 end
            as has_erased_runs,
          ${usedSum(consumer, p)} as used, ${reservedSum(consumer, p)} as reserved,
          (select count(*) from active_runs n where n.integration_id = i.integration_id and n.consumer_id = ${consumer}
            and not exists (select 1 from runs q where q.run_id = n.run_id and q.rerun_of is not null)) as member_active_runs
        from integrations i
        left join members m on m.integration_id = i.integration_id and m.consumer_id = ${p.consumerId}
        left join runs r on r.integration_id = i.integration_id and r.usage_request_id = ${p.usageRequestId}
        left join chats k on k.chat_key = r.chat_key
        left join chats c on c.chat_key = ${chatKeyById(p.integrationId, sql`${p.chatId}`)}
        left join chats a on a.integration_id = i.integration_id and a.alias = ${p.aliasChatId}
          and a.alias is not null and a.deleted_at is null
        left join active_runs b on b.integration_id = i.integration_id and b.consumer_id = coalesce(${consumer}, '')
          and b.chat_key = coalesce(c.chat_key, a.chat_key)
        where i.integration_id = ${p.integrationId} and i.deleted_at is null`,
    );
  },
  { gathers: { order: 0, types: { dayFirst: 'bigint', weekFirst: 'bigint', monthFirst: 'bigint' } } },
);

const NEW_CHAT_COLUMNS = [
  'chat_key',
  'integration_id',
  'chat_id',
  'alias',
  'consumer_id',
  'num_messages',
  'text_bytes',
  'created_at',
  { updated_at: sameAs('created_at') },
] as const;

const NEW_CHAT_GATHERS = {
  order: CHAT_ORDER,
  types: { num_messages: 'bigint', text_bytes: 'bigint', created_at: 'bigint' },
  key: (p: { readonly chat_key: string }) => p.chat_key,
} as const;

export const insertChat = insertInto('chats', [...NEW_CHAT_COLUMNS], { gathers: NEW_CHAT_GATHERS });

/** The same for a transient chat. Insert its row of `transient_chats` too. */
export const insertTransientChat: typeof insertChat = {
  ...insertInto('chats', [...NEW_CHAT_COLUMNS, { transient: sql<number>`1` }], { gathers: NEW_CHAT_GATHERS }),
  name: 'insert transient chat',
};

/**
 * Adds a message to the chat. Replaces the open questions. Changes no row if the chat has other questions than `known`:
 * another request has settled them. It changes no column of an index: SQLite would write the index again.
 */
export const growChat = statement(
  'grow chat',
  (
    db,
    p: {
      chatKey: ChatKey;
      textBytes: number;
      questionsJson: string | null;
      askingRunId: RunId | null;
      knownQuestionsJson: string | null;
      now: number;
    },
  ) =>
    db
      .updateTable('chats')
      .set((eb) => ({
        num_messages: eb('num_messages', '+', 1),
        text_bytes: eb('text_bytes', '+', p.textBytes),
        questions_json: p.questionsJson,
        asking_run_id: p.askingRunId,
        updated_at: p.now,
      }))
      .where('chat_key', '=', p.chatKey)
      .where('questions_json', 'is not distinct from', p.knownQuestionsJson)
      .where('deleted_at', 'is', null),
  { gathers: { order: CHAT_ORDER, types: { textBytes: 'bigint', now: 'bigint' }, key: (p) => p.chatKey } },
);

/** Sets the alias of a chat that has none. */
export const bindAlias = statement('bind alias', (db, p: { chatKey: ChatKey; alias: string }) =>
  db.updateTable('chats').set({ alias: p.alias }).where('chat_key', '=', p.chatKey).where('alias', 'is', null),
);

const MESSAGE_COLUMNS = [
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

/** Appends a message. Its position is the count that `growChat` or `insertChat` just wrote. */
export const insertMessage = statement(
  'insert message',
  (db, p: Omit<MessagesTable, 'position'>) =>
    db
      .insertInto('messages')
      .columns(['message_id', 'chat_key', 'position', ...MESSAGE_COLUMNS])
      .expression((eb) =>
        eb
          .selectFrom('chats')
          .select([sql<string>`${p.message_id}`.as('message_id'), 'chat_key', 'num_messages'])
          .select(MESSAGE_COLUMNS.map((column) => sql<string>`${p[column]}`.as(column)) as never)
          .where('chat_key', '=', p.chat_key),
      ),
  {
    gathers: {
      order: MESSAGE_ORDER,
      types: { created_at: 'bigint' },
      reads: {
        table: 'chats',
        columns: ['chat_key', 'num_messages'],
        writtenBy: [insertChat, insertTransientChat, growChat],
      },
    },
  },
);

/** Written into the statement: each parameter would be bound again for each run. Columns that are null are left out. */
const ZERO = sql<number>`0`;
const ONE = sql<number>`1`;

export const insertRun = insertInto(
  'runs',
  [
    'run_id',
    'integration_id',
    'chat_key',
    'consumer_id',
    'usage_request_id',
    'fingerprint',
    { status: sql<'admitted'>`'admitted'` },
    'agency',
    'agent',
    'node_id',
    { attempt: ONE, crashes: ZERO, step: ZERO },
    'journal_format',
    'agency_version',
    { structured: ZERO },
    'file_access',
    'member_folder',
    'held',
    'unit',
    'day',
    'period',
    'period_start',
    'user_context_json',
    'continues',
    'answers_json',
    'client_tools_json',
    { request_count: ZERO, input_tokens: ZERO, cached_tokens: ZERO, output_tokens: ZERO, reasoning_tokens: ZERO },
    { by_model_json: sql<string>`'[]'` },
    'created_at',
    { tracked: ONE },
  ],
  {
    gathers: {
      order: RUN_ORDER,
      types: { held: 'bigint', day: 'bigint', period_start: 'bigint', journal_format: 'bigint', created_at: 'bigint' },
      key: (p) => p.run_id,
    },
  },
);

/** Called only if the request brought something: the columns of most runs stay null. */
export const storeExtras = statement('store extras', (db, p: { runId: RunId; extrasJson: string }) =>
  db.updateTable('runs').set({ extras_json: p.extrasJson }).where('run_id', '=', p.runId),
);
