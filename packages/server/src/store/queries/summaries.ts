import { sql } from 'kysely';
import type { ChatKey, RunId } from '../../domain/ids.ts';
import { statement } from '../statement.ts';

/** The run's step that summed up the chat. A rerun can have its original's, and one of its own after it. */
export const summaryOfRun = statement('summary of run', (db, p: { runId: RunId }) =>
  db
    .selectFrom('steps')
    .select('record_json')
    .where('run_id', '=', p.runId)
    .where('kind', '=', sql<'summary'>`'summary'`)
    .orderBy('step', 'desc')
    .limit(1),
);

/** The run that made the chat's newest summary. Null if the chat has none. */
export const newestSummary = statement('newest summary', (db, p: { chatKey: ChatKey }) =>
  db.selectFrom('chats').select('summary_run_id').where('chat_key', '=', p.chatKey),
);

export const setSummary = statement('set summary', (db, p: { chatKey: ChatKey; runId: RunId | null }) =>
  db.updateTable('chats').set({ summary_run_id: p.runId }).where('chat_key', '=', p.chatKey),
);
