import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/**
 * What the lists of questions and of waiting chats read. Columns are null in rows of earlier versions: their questions are
 * listed as long as the chat has them. No index has a row of a run that asked nothing, so its end writes nothing more.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  for (const column of ['owner_id', 'question_json', 'answered_run_id', 'answer_json'])
    await db.schema.alterTable('asked_questions').addColumn(column, text).execute();
  for (const column of ['asked_at', 'settled_at'])
    await db.schema.alterTable('asked_questions').addColumn(column, 'bigint').execute();
  await sql`update asked_questions set
      owner_id = (select i.owner_id from chats c, integrations i
        where c.chat_key = asked_questions.chat_key and i.integration_id = c.integration_id),
      asked_at = coalesce((select coalesce(r.completed_at, r.created_at) from runs r where r.run_id = asked_questions.run_id), 0)`.execute(
    db,
  );
  await sql`update asked_questions set settled_at = asked_at
    where run_id not in (select c.asking_run_id from chats c where c.chat_key = asked_questions.chat_key and c.asking_run_id is not null)`.execute(
    db,
  );
  const list = ['owner_id', 'asked_at', 'question_id'];
  await db.schema.createIndex('asked_questions_list').on('asked_questions').columns(list).execute();
  await db.schema
    .createIndex('asked_questions_open')
    .on('asked_questions')
    .columns(list)
    .where(sql<boolean>`settled_at is null`)
    .execute();
  await db.schema
    .createIndex('chats_waiting')
    .on('chats')
    .columns(['integration_id', 'created_at', 'chat_key'])
    .where(sql<boolean>`asking_run_id is not null and deleted_at is null and transient = 0`)
    .execute();
  if (kind === 'postgres') await followEarlierNodes(db);
}

/** Fills in the owner and the time for nodes of the version before, which do not know the columns. */
async function followEarlierNodes(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`create function set_question_owner() returns trigger language plpgsql as $$
begin
  select i.owner_id, c.updated_at into new.owner_id, new.asked_at from chats c, integrations i
    where c.chat_key = new.chat_key and i.integration_id = c.integration_id;
  return new;
end $$`)
    .execute(db);
  await sql
    .raw(`create trigger set_question_owner before insert on asked_questions for each row
      when (new.owner_id is null) execute function set_question_owner()`)
    .execute(db);
}
