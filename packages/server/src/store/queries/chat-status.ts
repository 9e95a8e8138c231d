import type { Kysely } from 'kysely';
import type { IntegrationId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { type RowOf, statement } from '../statement.ts';
import { chatKeyById } from './chat-ids.ts';
import { activeRun, live } from './chats.ts';
import { answer, questionsOfRun, runColumns } from './runs.ts';

/*
 * One statement reads a chat and one of its runs, so both are of one snapshot. With two statements, a chat that is running
 * could be shown with a run that has ended.
 */

const chatColumns = [
  'chats.chat_key as chat_chat_key',
  'chats.integration_id as chat_integration_id',
  'chats.consumer_id as chat_consumer_id',
  'chats.alias as chat_alias',
  'chats.num_messages as chat_num_messages',
  'chats.created_at as chat_created_at',
  'chats.updated_at as chat_updated_at',
  'chats.questions_json as chat_questions_json',
] as const;

export const statusOfRun = statement(
  'status of run',
  (db, p: { integrationId: IntegrationId; usageRequestId: string; erasedUsageRequestId: string }) =>
    db
      .selectFrom('runs')
      .innerJoin('chats', 'chats.chat_key', 'runs.chat_key')
      .select([...runColumns, questionsOfRun, answer, ...chatColumns, ...activeRun])
      .where('runs.integration_id', '=', p.integrationId)
      .where('runs.usage_request_id', 'in', [p.usageRequestId, p.erasedUsageRequestId]),
);

/** The chat with its newest run; the run's columns are null if the chat has none. */
const newestRun = (db: Kysely<Schema>, integrationId: IntegrationId) =>
  db
    .selectFrom('chats')
    // The newest message belongs to the newest run, so no index of runs by chat is needed.
    .leftJoin('runs', (join) =>
      join.on('runs.run_id', '=', (eb) =>
        eb
          .selectFrom('messages')
          .select('messages.run_id')
          .whereRef('messages.chat_key', '=', 'chats.chat_key')
          .orderBy('messages.position', 'desc')
          .limit(1),
      ),
    )
    .select([...runColumns, questionsOfRun, answer, ...chatColumns, ...activeRun])
    .where('chats.integration_id', '=', integrationId)
    .where(live);

export const statusOfChat = statement('status of chat', (db, p: { integrationId: IntegrationId; chatId: string }) =>
  newestRun(db, p.integrationId).where('chats.chat_key', '=', chatKeyById(p.integrationId, p.chatId)),
);

export const statusOfAlias = statement('status of alias', (db, p: { integrationId: IntegrationId; alias: string }) =>
  newestRun(db, p.integrationId).where('chats.alias', '=', p.alias),
);

export type ChatStatusRow = RowOf<typeof statusOfChat>;
