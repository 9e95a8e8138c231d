import { sql } from 'kysely';
import type { AdmissionFactsRow } from '../../domain/admission.ts';
import { ERASED_IDS } from '../../domain/erased-ids.ts';
import type { FileAccess } from '../../domain/file-access.ts';
import type { IntegrationId } from '../../domain/ids.ts';
import type { MountPath } from '../../domain/mount-path.ts';
import { statement } from '../statement.ts';
import { type PeriodDays, reservedSum, usedSum } from './allowance.ts';
import { chatKeyById } from './chat-ids.ts';
import { CHAT_ORDER, MESSAGE_ORDER, RUN_ORDER } from './locks.ts';
import { raw } from './raw.ts';

/**
 * Reads everything that admission needs for its decision, in one statement and so in one snapshot. The conditions on
 * `deleted_at` and attachments are literals, because a partial index serves only its own expression. The active run is read
 * by the member of the request: a chat of another member is refused.
 */
export const admissionFacts = statement(
  'admission facts',
  (
    db,
    p: PeriodDays & {
      integrationId: IntegrationId;
      consumerId: string | null;
      usageRequestId: string | null;
      chatId: string | null;
      aliasChatId: string | null;
    },
  ) => {
    const consumer = sql`${p.consumerId}`;
    return raw<AdmissionFactsRow>(
      db,
      sql<AdmissionFactsRow>`select
          i.agency, i.default_agent, i.text_only, i.allowance_unit, i.allowance_limit, i.allowance_period,
          i.max_runs_per_member, i.max_run_seconds, i.on_disconnect, i.keep_attachments, i.model as integration_model,
          i.file_access, i.member_folder, i.client_tools,
          m.active as member_active, m.own_limit as member_limit,
          r.run_id as known_run_id, r.fingerprint as known_fingerprint, r.consumer_id as known_consumer_id,
          r.chat_key as known_chat_key,
          k.chat_id as known_chat_id, k.alias as known_alias, k.deleted_at as known_chat_deleted_at,
          c.chat_key as chat_key, c.alias as chat_alias, c.consumer_id as chat_consumer_id,
          c.num_messages as chat_num_messages, c.text_bytes as chat_text_bytes, c.questions_json as chat_questions_json,
          a.chat_key as alias_chat_key, a.chat_id as alias_chat_id, a.consumer_id as alias_consumer_id,
          a.num_messages as alias_num_messages, a.text_bytes as alias_text_bytes, a.questions_json as alias_questions_json,
          b.run_id as busy_run_id,
          (select u.usage_request_id from runs u where u.run_id = b.run_id) as busy_usage_request_id,
          case when exists (select 1 from attachments w where w.chat_key = coalesce(c.chat_key, a.chat_key)
            and w.url is not null and w.blob_key is null and w.form is not null) then 1 else 0 end as files_without_copy,
          case when exists (select 1 from runs e where e.integration_id = i.integration_id
            and e.usage_request_id >= ${sql.lit(ERASED_IDS.from)} and e.usage_request_id < ${sql.lit(ERASED_IDS.to)}) then 1 else 0 end
            as has_erased_runs,
          ${usedSum(consumer, p)} as used, ${reservedSum(consumer, p)} as reserved,
          (select count(*) from active_runs n where n.integration_id = i.integration_id and n.consumer_id = ${consumer})
            as member_active_runs
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

export const insertChat = statement(
  'insert chat',
  (
    db,
    p: {
      chatKey: string;
      integrationId: IntegrationId;
      chatId: string;
      alias: string | null;
      consumerId: string | null;
      numMessages: number;
      textBytes: number;
      now: number;
    },
  ) =>
    db.insertInto('chats').values({
      chat_key: p.chatKey,
      integration_id: p.integrationId,
      chat_id: p.chatId,
      alias: p.alias,
      consumer_id: p.consumerId,
      num_messages: p.numMessages,
      text_bytes: p.textBytes,
      created_at: p.now,
      updated_at: p.now,
    }),
  {
    gathers: {
      order: CHAT_ORDER,
      types: { numMessages: 'bigint', textBytes: 'bigint', now: 'bigint' },
      key: (p) => p.chatKey,
    },
  },
);

/**
 * Adds a message to the chat. Replaces the open questions. Changes no row if the chat has other questions than `known`:
 * another request has settled them. It changes no column of an index: SQLite would write the index again.
 */
export const growChat = statement(
  'grow chat',
  (
    db,
    p: {
      chatKey: string;
      textBytes: number;
      questionsJson: string | null;
      askingRunId: string | null;
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
export const bindAlias = statement('bind alias', (db, p: { chatKey: string; alias: string }) =>
  db.updateTable('chats').set({ alias: p.alias }).where('chat_key', '=', p.chatKey).where('alias', 'is', null),
);

/** Appends a message. Its position is the count that `growChat` or `insertChat` just wrote. */
export const insertMessage = statement(
  'insert message',
  (
    db,
    p: {
      messageId: string;
      chatKey: string;
      runId: string;
      role: 'user' | 'assistant';
      status: 'completed' | 'failed' | 'cancelled';
      agent: string;
      contentJson: string;
      errorCode: string | null;
      errorMessage: string | null;
      sandboxFilesJson: string | null;
      now: number;
    },
  ) =>
    db
      .insertInto('messages')
      .columns([
        'message_id',
        'chat_key',
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
      ])
      .expression((eb) =>
        eb
          .selectFrom('chats')
          .select([
            sql<string>`${p.messageId}`.as('message_id'),
            'chat_key',
            'num_messages',
            sql<string>`${p.runId}`.as('run_id'),
            sql<'user'>`${p.role}`.as('role'),
            sql<'completed'>`${p.status}`.as('status'),
            sql<string>`${p.agent}`.as('agent'),
            sql<string>`${p.contentJson}`.as('content_json'),
            sql<string | null>`${p.errorCode}`.as('error_code'),
            sql<string | null>`${p.errorMessage}`.as('error_message'),
            sql<string | null>`${p.sandboxFilesJson}`.as('sandbox_files_json'),
            sql<number>`${p.now}`.as('created_at'),
          ])
          .where('chat_key', '=', p.chatKey),
      ),
  {
    gathers: {
      order: MESSAGE_ORDER,
      types: { now: 'bigint' },
      reads: { table: 'chats', columns: ['chat_key', 'num_messages'], writtenBy: [insertChat, growChat] },
    },
  },
);

/** Written into the statement: each parameter would be bound again for each run. Columns that are null are left out. */
const ZERO = sql<number>`0`;
const ONE = sql<number>`1`;

export const insertRun = statement(
  'insert run',
  (
    db,
    p: {
      runId: string;
      integrationId: IntegrationId;
      chatKey: string;
      consumerId: string | null;
      usageRequestId: string | null;
      fingerprint: string | null;
      agency: string;
      agent: string;
      nodeId: string;
      held: number;
      unit: 'runs' | 'tokens' | 'credits' | null;
      day: number;
      period: 'day' | 'week' | 'month' | 'lifetime' | null;
      periodStart: number | null;
      userContextJson: string | null;
      continues: string | null;
      answersJson: string | null;
      clientToolsJson: string | null;
      journalFormat: number;
      agencyVersion: string | null;
      fileAccess: FileAccess;
      memberFolder: MountPath | null;
      now: number;
    },
  ) =>
    db.insertInto('runs').values({
      run_id: p.runId,
      integration_id: p.integrationId,
      chat_key: p.chatKey,
      consumer_id: p.consumerId,
      usage_request_id: p.usageRequestId,
      fingerprint: p.fingerprint,
      status: sql<'admitted'>`'admitted'`,
      agency: p.agency,
      agent: p.agent,
      node_id: p.nodeId,
      attempt: ONE,
      crashes: ZERO,
      step: ZERO,
      journal_format: p.journalFormat,
      agency_version: p.agencyVersion,
      structured: ZERO,
      file_access: p.fileAccess,
      member_folder: p.memberFolder,
      held: p.held,
      unit: p.unit,
      day: p.day,
      period: p.period,
      period_start: p.periodStart,
      user_context_json: p.userContextJson,
      continues: p.continues,
      answers_json: p.answersJson,
      client_tools_json: p.clientToolsJson,
      request_count: ZERO,
      input_tokens: ZERO,
      cached_tokens: ZERO,
      output_tokens: ZERO,
      reasoning_tokens: ZERO,
      by_model_json: sql<string>`'[]'`,
      created_at: p.now,
      tracked: ONE,
    }),
  {
    gathers: {
      order: RUN_ORDER,
      types: { held: 'bigint', day: 'bigint', periodStart: 'bigint', journalFormat: 'bigint', now: 'bigint' },
      key: (p) => p.runId,
    },
  },
);
