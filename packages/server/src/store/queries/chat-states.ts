import { sql } from 'kysely';
import type { ChatKey } from '../../domain/ids.ts';
import { statement } from '../statement.ts';
import { raw } from './raw.ts';

/** The state at the start of the chat's active run. No row if the chat had none. */
export const stateAtStart = statement('state at start', (db, p: { chatKey: ChatKey }) =>
  db
    .selectFrom('chat_states')
    .select(['state_json', 'agent'])
    .where('chat_key', '=', p.chatKey)
    .where('position', '<', (eb) =>
      eb.selectFrom('chats').select('num_messages').where('chats.chat_key', '=', p.chatKey),
    )
    .orderBy('position', 'desc')
    .limit(1),
);

/** The state at a position of the chat: of the message itself and of everything before it. */
export const stateUpTo = statement('state up to', (db, p: { chatKey: ChatKey; position: number }) =>
  db
    .selectFrom('chat_states')
    .select(['state_json', 'agent'])
    .where('chat_key', '=', p.chatKey)
    .where('position', '<=', p.position)
    .orderBy('position', 'desc')
    .limit(1),
);

export const newestState = statement('newest state', (db, p: { chatKey: ChatKey }) =>
  db
    .selectFrom('chat_states')
    .select(['state_json', 'agent'])
    .where('chat_key', '=', p.chatKey)
    .orderBy('position', 'desc')
    .limit(1),
);

/** Stores the state at the chat's end: the message of the active run, or the last message of an idle chat. */
export const storeState = statement(
  'store state',
  (db, p: { chatKey: ChatKey; stateJson: string; agent: string | null }) =>
    raw<never>(
      db,
      sql<never>`insert into chat_states (chat_key, position, state_json, agent)
        select chat_key, num_messages, cast(${p.stateJson} as text), cast(${p.agent} as text) from chats
        where chat_key = ${p.chatKey} and deleted_at is null
        on conflict (chat_key, position) do update set state_json = excluded.state_json, agent = excluded.agent`,
    ),
);

/** Stores the agent of a lasting hand-off at the end of its run, which has counted its answer: the state is that of its message. */
export const storeLastingAgent = statement('store lasting agent', (db, p: { chatKey: ChatKey; agent: string }) =>
  raw<never>(
    db,
    sql<never>`insert into chat_states (chat_key, position, state_json, agent)
      select c.chat_key, c.num_messages - 1, coalesce((select s.state_json from chat_states s
        where s.chat_key = c.chat_key order by s.position desc limit 1), '{}'), cast(${p.agent} as text) from chats c
      where c.chat_key = ${p.chatKey} and c.deleted_at is null
      on conflict (chat_key, position) do update set agent = excluded.agent`,
  ),
);

/** Copies the states that a fork has. */
export const copyStates = statement('copy states', (db, p: { chatKey: ChatKey; forkKey: ChatKey; upTo: number }) =>
  raw<never>(
    db,
    sql<never>`insert into chat_states (chat_key, position, state_json, agent)
      select cast(${p.forkKey} as text), position, state_json, agent from chat_states
      where chat_key = ${p.chatKey} and position <= ${p.upTo}`,
  ),
);

export const deleteStates = statement('delete states', (db, p: { chatKey: ChatKey }) =>
  db.deleteFrom('chat_states').where('chat_key', '=', p.chatKey),
);
