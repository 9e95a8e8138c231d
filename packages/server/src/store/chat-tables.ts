import type { Generated, GeneratedAlways } from 'kysely';
import type { ChatId, ChatKey, IntegrationId, RunId } from '../domain/ids.ts';

export interface ChatsTable {
  chat_key: ChatKey;
  integration_id: IntegrationId;
  chat_id: ChatId;
  alias: string | null;
  consumer_id: string | null;
  num_messages: number;
  /** UTF-8 bytes of all message texts: what the next turn sends again. */
  text_bytes: number;
  /** The title and the metadata that the caller set, or null. A deleted chat has neither. */
  title_json: Generated<string | null>;
  metadata_json: Generated<string | null>;
  /** The open questions of its newest run (`OpenQuestions`). Null if there are none. */
  questions_json: Generated<string | null>;
  /** The run that asked them. Null if there are none. */
  asking_run_id: Generated<RunId | null>;
  /** The chat of which it is a fork, also if that chat was deleted. Null if it is no fork. */
  forked_from: Generated<ChatKey | null>;
  /** The last run that a fork has of the other chat. Null if it has none. */
  forked_run_id: Generated<RunId | null>;
  /** The run that made its newest summary. The text is in a step of that run. Null if there is none. */
  summary_run_id: Generated<RunId | null>;
  /** The fork that took over this chat's id and alias. Such a chat is not listed. */
  replaced_by: Generated<ChatKey | null>;
  /** The id and the alias that another chat took over. */
  former_chat_id: Generated<ChatId | null>;
  former_alias: Generated<string | null>;
  /** 1 if the chat is not listed and is deleted some days after its last run. Such a chat has a row of `transient_chats`. */
  transient: Generated<number>;
  created_at: number;
  updated_at: number;
  /** Hours from 1970 to the last change. */
  updated_hour: GeneratedAlways<number>;
  deleted_at: number | null;
}

/** When the sweep looks at a transient chat next. */
export interface TransientChatsTable {
  chat_key: ChatKey;
  due_at: number;
}

export interface MessagesTable {
  message_id: string;
  chat_key: ChatKey;
  /** 1, 2, 3 … within the chat. */
  position: number;
  run_id: RunId;
  role: 'user' | 'assistant';
  status: 'completed' | 'failed' | 'cancelled' | 'imported';
  agent: string;
  content_json: string;
  error_code: string | null;
  error_message: string | null;
  /** `[{name, path}]` of a user's message, or null if it has none. */
  sandbox_files_json: string | null;
  created_at: number;
}
