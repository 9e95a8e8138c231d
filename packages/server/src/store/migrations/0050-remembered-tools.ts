import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/** The tools that answers allowed for a chat. The index has only these, so a run does not read the chat's other questions. */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  await db.schema.alterTable('asked_questions').addColumn('remembered_tool', text).execute();
  await db.schema
    .createIndex('asked_questions_remembered')
    .on('asked_questions')
    .columns(['chat_key', 'remembered_tool'])
    .where(sql<boolean>`remembered_tool is not null`)
    .execute();
}
