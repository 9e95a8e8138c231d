import type { Kysely } from 'kysely';

/** A client of a compatible API deleted the response; the run and its usage remain. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('runs').addColumn('response_deleted_at', 'bigint').execute();
}
