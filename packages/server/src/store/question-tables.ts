import type { Generated } from 'kysely';
import type { ChatKey, OwnerId, RunId } from '../domain/ids.ts';

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
  /** The integration's owner, who never changes. */
  owner_id: Generated<OwnerId | null>;
  asked_at: Generated<number | null>;
  /** The `Question`. Null if an earlier version asked it. Then `chats.questions_json` has it as long as it is open. */
  question_json: Generated<string | null>;
  /** When the next run of the chat was admitted. Null if the question is open, or if an earlier version admitted that run. */
  settled_at: Generated<number | null>;
  /** The run that continues with the answer. Null if there is no answer. */
  answered_run_id: Generated<RunId | null>;
  /** The answer and who gave it (`StoredAnswer`). Null if there is none, or if an earlier version admitted the run. */
  answer_json: Generated<string | null>;
  /** The tool that the answer allowed for the chat, until the approval is removed. Null if it allowed one call. */
  remembered_tool: Generated<string | null>;
}
