import { type Kysely, sql } from 'kysely';
import { LATER_WORDS, nameFrom } from '../queries/member-words.ts';
import type { StoreKind } from '../store.ts';

/** Finds members by a later word of their names. The database keeps the indexes, so earlier nodes need not know them. */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  if (kind === 'postgres') {
    // As SQLite calls it, so that both have the same expressions. The planner replaces it by its body.
    await sql`create or replace function instr(text, text) returns integer language sql immutable strict parallel safe
      as 'select strpos($1, $2)'`.execute(db);
  }
  for (const word of LATER_WORDS) {
    await db.schema
      .createIndex(`members_by_word_${word}`)
      .on('members')
      .column('integration_id')
      .expression(sql`lower(${nameFrom(word)})`)
      .columns(['created_at', 'sort_key', 'consumer_id'])
      .where(sql<boolean>`${nameFrom(word)} is not null`)
      .execute();
  }
}
