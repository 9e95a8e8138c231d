import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/**
 * The images of tool outputs. They are deleted with the steps of their run, and then nothing refers to their blobs. Triggers do
 * both, so that nodes of the version before, which do not know the table, delete them too.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  await db.schema
    .createTable('tool_images')
    .addColumn('run_id', text, (c) => c.notNull())
    .addColumn('attachment_id', text, (c) => c.notNull())
    .addColumn('chat_key', text, (c) => c.notNull())
    .addColumn('blob_key', text, (c) => c.notNull())
    .addColumn('media_type', text, (c) => c.notNull())
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('tool_images_key', ['run_id', 'attachment_id'])
    .modifyEnd(kind === 'sqlite' ? sql`without rowid` : sql``)
    .execute();
  await db.schema.createIndex('tool_images_blob').on('tool_images').column('blob_key').execute();
  await db.schema.createIndex('tool_images_chat').on('tool_images').column('chat_key').execute();
  const triggers = kind === 'postgres' ? POSTGRES : SQLITE;
  for (const one of triggers) await sql.raw(one).execute(db);
}

const SQLITE = [
  `create trigger steps_without_images after delete on steps begin
    delete from tool_images where run_id = old.run_id; end`,
  `create trigger tool_images_deleted after delete on tool_images begin
    update blobs set unused_since = cast(unixepoch('subsec') * 1000 as integer) where blob_key = old.blob_key
      and not exists (select 1 from tool_images i where i.blob_key = old.blob_key); end`,
];

/** Locks the blob first: of two transactions that delete its last images, the second one sees what the first one deleted. */
const POSTGRES = [
  `create function delete_images_of_steps() returns trigger language plpgsql as $$
begin
  delete from tool_images where run_id in (select run_id from gone);
  return null;
end $$`,
  `create trigger steps_without_images after delete on steps referencing old table as gone
    for each statement execute function delete_images_of_steps()`,
  `create function free_blob_of_image() returns trigger language plpgsql as $$
begin
  perform 1 from blobs where blob_key = old.blob_key for update;
  update blobs set unused_since = (extract(epoch from clock_timestamp()) * 1000)::bigint where blob_key = old.blob_key
    and not exists (select 1 from tool_images i where i.blob_key = old.blob_key);
  return null;
end $$`,
  `create trigger tool_images_deleted after delete on tool_images
    for each row execute function free_blob_of_image()`,
];
