import { sql } from 'kysely';
import { PREVIEW_JSON_CHARACTERS } from '../../domain/preview.ts';

const start = sql`substr(content_json, 1, ${sql.lit(PREVIEW_JSON_CHARACTERS)})`;

/** Reads how the text begins that a run got or answered. A run's messages are near its chat's end, so it reads from there. */
const firstText = (role: 'user' | 'assistant') => sql<string | null>`(select ${start} from messages
  where messages.chat_key = chats.chat_key and messages.run_id = runs.run_id and role = ${sql.lit(role)}
  order by position desc limit 1)`;

export const messageStart = firstText('user').as('message_start_json');
export const answerStart = firstText('assistant').as('answer_json');

/** Reads how a chat's first message begins, if the chat has no title: one row by its key. */
export const firstTextOfChat = sql<string | null>`case when coalesce(chats.title_json, '""') = '""' then
  (select ${start} from messages where messages.chat_key = chats.chat_key order by position limit 1) end`.as(
  'first_text_json',
);
