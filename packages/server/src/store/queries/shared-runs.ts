import { sql } from 'kysely';
import type { ChatKey, RunId } from '../../domain/ids.ts';
import { statement } from '../statement.ts';
import { raw } from './raw.ts';

/* Runs whose messages are in several chats, because a chat was forked after them. */

/** Called after the messages were copied. The other chat may share the runs already. */
export const shareRuns = statement('share runs', (db, p: { chatKey: ChatKey; forkKey: ChatKey }) =>
  raw<never>(
    db,
    sql<never>`insert into shared_runs (run_id, chat_key)
      select m.run_id, c.chat_key from messages m cross join (
        select cast(${p.chatKey} as text) as chat_key union all select cast(${p.forkKey} as text)) c
      where m.chat_key = ${p.forkKey} and m.role = 'user' and m.run_id is not null
      on conflict (run_id, chat_key) do nothing`,
  ),
);

/**
 * Chats that share runs are deleted one after the other: otherwise each deletion would find the other chat, and both would
 * leave the steps.
 */
export const lockSharedRuns = statement(
  'lock shared runs',
  (db, p: { chatKey: ChatKey }) =>
    db
      .selectFrom('shared_runs')
      .select('run_id')
      .where('run_id', 'in', (eb) => eb.selectFrom('messages').select('run_id').where('chat_key', '=', p.chatKey))
      .orderBy('run_id')
      .orderBy('chat_key')
      .forUpdate(),
  { locks: true },
);

export const deleteSharedRuns = statement('delete shared runs', (db, p: { chatKey: ChatKey }) =>
  db.deleteFrom('shared_runs').where('chat_key', '=', p.chatKey),
);

/** Returns a row if another chat than a deleted one has the run's messages. */
export const chatSharingRun = statement('chat sharing run', (db, p: { runId: RunId }) =>
  db.selectFrom('shared_runs').select('chat_key').where('run_id', '=', p.runId).limit(1),
);
