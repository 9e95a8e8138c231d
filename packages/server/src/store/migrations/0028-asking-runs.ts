import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/** Every version writes `runId` as the first value. PostgreSQL's JSON functions refuse some texts of models, for example NUL. */
const asking = `substring(questions_json from '^\\{"runId":"([^"]*)"')`;

/** The run whose questions are open, so that they are found without reading their JSON. */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  await db.schema.alterTable('chats').addColumn('asking_run_id', text).execute();
  const fill = kind === 'postgres' ? sql.raw(asking) : sql`json_extract(questions_json, '$.runId')`;
  await sql`update chats set asking_run_id = ${fill} where questions_json is not null`.execute(db);
  if (kind === 'postgres') await followEarlierNodes(db);
}

/** Writes the column for nodes of the version before. Their statements are the only ones that leave it wrong. */
async function followEarlierNodes(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`create function set_asking_run() returns trigger language plpgsql as $$
begin
  update chats set asking_run_id = ${asking} where chat_key = new.chat_key;
  return null;
end $$`)
    .execute(db);
  await sql
    .raw(`create trigger set_asking_run after update of questions_json on chats for each row
      when ((new.questions_json is null) <> (new.asking_run_id is null)) execute function set_asking_run()`)
    .execute(db);
}
