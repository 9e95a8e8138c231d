import type { ChatKey } from '../../domain/ids.ts';
import { insertInto, statement } from '../statement.ts';

export const insertTransientMark = insertInto('transient_chats', ['chat_key', 'due_at']);

/** The next transient chats to look at, the longest due first. */
export const dueTransientChats = statement('due transient chats', (db, p: { now: number; limit: number }) =>
  db
    .selectFrom('transient_chats')
    .select('chat_key')
    .where('due_at', '<=', p.now)
    .orderBy('due_at')
    .orderBy('chat_key')
    .limit(p.limit),
);

/** When the newest run ended: null if it is active, or if the chat has none. No row for a chat that was deleted. */
export const endOfTransientChat = statement('end of transient chat', (db, p: { chatKey: ChatKey }) =>
  db
    .selectFrom('chats')
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
    .select(['runs.run_id', 'runs.completed_at', 'chats.updated_at'])
    .where('chats.chat_key', '=', p.chatKey)
    .where('chats.deleted_at', 'is', null),
);

export const postponeTransient = statement('postpone transient', (db, p: { chatKey: ChatKey; dueAt: number }) =>
  db.updateTable('transient_chats').set({ due_at: p.dueAt }).where('chat_key', '=', p.chatKey),
);

export const deleteTransientMark = statement('delete transient mark', (db, p: { chatKey: ChatKey }) =>
  db.deleteFrom('transient_chats').where('chat_key', '=', p.chatKey),
);
