import { type Kysely, sql } from 'kysely';

/** The list of answered questions does not read questions that a new message left without an answer. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('asked_questions_answered')
    .on('asked_questions')
    .columns(['owner_id', 'asked_at', 'question_id'])
    .where(sql<boolean>`answer_json is not null`)
    .execute();
}
