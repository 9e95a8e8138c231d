import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/**
 * Calls that gave no result, beside the journal, which nodes with the version before read. And what each agency's version
 * told its models. A run without such calls writes nothing more.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;
  await db.schema
    .createTable('unfinished_steps')
    .addColumn('run_id', text, (c) => c.notNull())
    .addColumn('step', 'integer', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('loop', text, (c) => c.notNull())
    .addColumn('index_in_loop', 'integer', (c) => c.notNull())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('caller_agent', text)
    .addColumn('model', text)
    .addColumn('tool', text)
    .addColumn('call_id', text)
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('first_event_id', 'bigint', (c) => c.notNull())
    .addColumn('last_event_id', 'bigint', (c) => c.notNull())
    .addColumn('record_json', text, (c) => c.notNull())
    .addColumn('started_at', 'bigint', (c) => c.notNull())
    .addColumn('completed_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('unfinished_steps_key', ['run_id', 'step'])
    .execute();
  await db.schema
    .createTable('agency_definitions')
    .addColumn('agency', text, (c) => c.notNull())
    .addColumn('version', text, (c) => c.notNull())
    .addColumn('definition_json', text, (c) => c.notNull())
    .addColumn('seen_at', 'bigint', (c) => c.notNull())
    .addColumn('run_id', text)
    .addPrimaryKeyConstraint('agency_definitions_key', ['agency', 'version'])
    .modifyEnd(clustered)
    .execute();
}
