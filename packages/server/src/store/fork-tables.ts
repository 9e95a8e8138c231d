import type { ChatKey, RunId } from '../domain/ids.ts';

/**
 * The runs whose messages several chats have, one row for each of these chats. The last of them to be deleted deletes the steps.
 * A run whose messages are only in its own chat has no row.
 */
export interface SharedRunsTable {
  run_id: RunId;
  chat_key: ChatKey;
}

/**
 * The questions that runs ended with, by the chat in which they were opened: a fork asks again what its last run asked, with
 * new ids. They are open as long as `chats.asking_run_id` names the run. Deleted with the chat.
 */
export interface AskedQuestionsTable {
  question_id: string;
  chat_key: ChatKey;
  run_id: RunId;
  /** JSON, because models choose it. */
  call_id_json: string;
}
