import { sql } from 'kysely';
import type { ChatKey } from '../../domain/ids.ts';
import { statement } from '../statement.ts';
import type { JsonRows } from './file-batches.ts';
import { raw } from './raw.ts';

/** `messages`: `{id, run, role, position, agent, content}`. */
export const insertImportedMessages = statement(
  'insert imported messages',
  (db, p: { chatKey: ChatKey; now: number; messages: JsonRows }) =>
    raw<never>(
      db,
      sql<never>`
      insert into messages (message_id, chat_key, position, run_id, role, status, agent, content_json, created_at)
      select j.value ->> 'id', ${p.chatKey}, cast(j.value ->> 'position' as integer), j.value ->> 'run', j.value ->> 'role',
        'imported', j.value ->> 'agent', j.value ->> 'content', cast(${p.now} as bigint)
      from json_each(${p.messages}) as j`,
    ),
);

/** `steps`: `{run, step, agent, tools, record}`. */
export const insertImportedSteps = statement('insert imported steps', (db, p: { now: number; steps: JsonRows }) =>
  raw<never>(
    db,
    sql<never>`
      insert into steps (run_id, step, attempt, kind, loop, index_in_loop, agent, tool, status, first_event_id, last_event_id,
        record_json, started_at, completed_at)
      select j.value ->> 'run', cast(j.value ->> 'step' as integer), 1, 'model', '', cast(j.value ->> 'step' as integer),
        j.value ->> 'agent', j.value ->> 'tools', 'completed', 0, 0, j.value ->> 'record', cast(${p.now} as bigint), cast(${p.now} as bigint)
      from json_each(${p.steps}) as j`,
  ),
);
