import { type Kysely, sql } from 'kysely';
import { areEarlierNodesRefused } from '../earlier-nodes.ts';
import type { StoreKind } from '../store.ts';

/** What tools keep in a chat, after each run that changed it and after each change by a caller. */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  await db.schema
    .createTable('chat_states')
    .addColumn('chat_key', text, (c) => c.notNull())
    .addColumn('position', 'bigint', (c) => c.notNull())
    .addColumn('state_json', text, (c) => c.notNull())
    .addColumn('agent', text)
    .addPrimaryKeyConstraint('chat_states_pkey', ['chat_key', 'position'])
    .execute();
  if (kind === 'postgres' && !(await areEarlierNodesRefused(db))) await followEarlierNodes(db);
}

/** An earlier version's node deletes a chat without its states, which it does not know. */
async function followEarlierNodes(db: Kysely<unknown>): Promise<void> {
  await sql`create function delete_chat_states() returns trigger language plpgsql as $$
begin
  delete from chat_states where chat_key = old.chat_key;
  return null;
end $$`.execute(db);
  await sql`create trigger delete_chat_states after update of deleted_at or delete on chats for each row
    execute function delete_chat_states()`.execute(db);
}
