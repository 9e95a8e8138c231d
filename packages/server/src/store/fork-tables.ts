import type { ChatKey, RunId } from '../domain/ids.ts';

/**
 * The runs whose messages several chats have, one row for each of these chats. The last of them to be deleted deletes the steps.
 * A run whose messages are only in its own chat has no row.
 */
export interface SharedRunsTable {
  run_id: RunId;
  chat_key: ChatKey;
}
