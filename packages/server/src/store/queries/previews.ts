import { sql } from 'kysely';
import { PREVIEW_JSON_CHARACTERS } from '../../domain/preview.ts';

const start = sql`substr(content_json, 1, ${sql.lit(PREVIEW_JSON_CHARACTERS)})`;

/** Reads how a chat's first message begins, if the chat has no title: one row by its key. */
export const firstTextOfChat = sql<string | null>`case when coalesce(chats.title_json, '""') = '""' then
  (select ${start} from messages where messages.chat_key = chats.chat_key order by position limit 1) end`.as(
  'first_text_json',
);
