import { type RawBuilder, sql } from 'kysely';
import type { ChatKey } from '../../domain/ids.ts';

type Operand = string | RawBuilder<unknown>;

/**
 * Finds the chat's key with this id that is not deleted; null if there is none. If the server chose a chat's id,
 * the id is also its key. SQLite has an index only of the other ids: a new chat then writes one page less.
 */
export const chatKeyById = (integrationId: Operand, chatId: Operand) =>
  sql<ChatKey>`coalesce(
    (select g.chat_key from chats g where g.chat_key = ${chatId} and g.chat_id = g.chat_key
      and g.integration_id = ${integrationId} and g.deleted_at is null),
    (select n.chat_key from chats n where n.integration_id = ${integrationId} and n.chat_id = ${chatId}
      and n.chat_id <> n.chat_key and n.deleted_at is null))`;
