import { type Kysely, sql } from 'kysely';
import { areEarlierNodesRefused } from '../earlier-nodes.ts';
import type { StoreKind } from '../store.ts';

/**
 * People who sign in for an owner, and roles of API keys. The sign-in of an owner becomes its first person, which has the id of
 * the owner: so `owner_id` in `passwords`, `sessions` and `set_up_links` is the id of a person, in rows of both versions.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;

  await db.schema
    .createTable('people')
    .addColumn('person_id', text, (c) => c.notNull().primaryKey())
    .addColumn('owner_id', text, (c) => c.notNull())
    .addColumn('email', text, (c) => c.unique())
    .addColumn('name_json', text)
    .addColumn('role', text, (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('last_seen_at', 'bigint')
    .modifyEnd(clustered)
    .execute();
  await db.schema.createIndex('people_list').on('people').columns(['owner_id', 'created_at', 'person_id']).execute();
  await sql`insert into people (person_id, owner_id, email, name_json, role, created_at, last_seen_at)
    select o.owner_id, o.owner_id, o.email, o.name_json, 'manager', o.created_at,
      (select max(s.used_at) from sessions s where s.owner_id = o.owner_id) from owners o`.execute(db);

  // Keys of earlier versions may do everything.
  await db.schema
    .alterTable('api_keys')
    .addColumn('role', text, (c) => c.notNull().defaultTo('manager'))
    .execute();
  for (const column of ['integrations_json', 'creator_id', 'creator_json'])
    await db.schema.alterTable('api_keys').addColumn(column, text).execute();
  if (kind === 'postgres' && !(await areEarlierNodesRefused(db))) await followEarlierNodes(db);
}

/** Nodes of the version before know the first person of an owner only as the owner. */
async function followEarlierNodes(db: Kysely<unknown>): Promise<void> {
  await sql`create function follow_owner() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from people where owner_id = old.owner_id;
  elsif tg_op = 'INSERT' then
    insert into people (person_id, owner_id, email, name_json, role, created_at)
      values (new.owner_id, new.owner_id, new.email, new.name_json, 'manager', new.created_at);
  else
    update people set email = new.email, name_json = new.name_json where person_id = new.owner_id;
  end if;
  return null;
end $$`.execute(db);
  await sql`create trigger follow_owner after insert or update or delete on owners
      for each row execute function follow_owner()`.execute(db);
}
