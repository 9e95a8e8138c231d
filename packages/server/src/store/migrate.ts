import { type Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration';
import { StartRefused } from '../domain/start-refused.ts';
import * as first from './migrations/0001-first.ts';
import * as compaction from './migrations/0002-compaction.ts';
import * as attachments from './migrations/0003-attachments.ts';
import * as rowidTables from './migrations/0004-rowid-tables.ts';
import * as scaleOut from './migrations/0006-scale-out.ts';
import * as leases from './migrations/0007-leases.ts';
import * as files from './migrations/0008-files.ts';
import * as attachmentsByUrl from './migrations/0009-attachments-by-url.ts';
import * as commitMarks from './migrations/0010-commit-marks.ts';
import * as nodeAddresses from './migrations/0011-node-addresses.ts';
import * as chatFilters from './migrations/0012-chat-filters.ts';
import * as loops from './migrations/0013-loops.ts';
import * as fileRows from './migrations/0014-file-rows.ts';
import * as chatTitlesAndAdjustments from './migrations/0015-chat-titles-and-adjustments.ts';
import * as erasures from './migrations/0016-erasures.ts';
import * as questions from './migrations/0017-questions.ts';
import * as signIn from './migrations/0018-sign-in.ts';
import * as listFilters from './migrations/0019-list-filters.ts';
import * as fileQuotas from './migrations/0020-file-quotas.ts';
import * as pendingBlobs from './migrations/0021-pending-blobs.ts';
import * as erasureLookups from './migrations/0022-erasure-lookups.ts';
import * as membersByRow from './migrations/0023-members-by-row.ts';
import * as activeRuns from './migrations/0024-active-runs.ts';
import * as usageRollups from './migrations/0025-usage-rollups.ts';
import * as compactedChunks from './migrations/0026-compacted-chunks.ts';
import * as chosenChatIds from './migrations/0027-chosen-chat-ids.ts';
import * as askingRuns from './migrations/0028-asking-runs.ts';
import * as forks from './migrations/0029-forks.ts';
import * as importedHistory from './migrations/0030-imported-history.ts';
import * as deletedResponses from './migrations/0035-deleted-responses.ts';
import * as webhooks from './migrations/0036-webhooks.ts';
import * as schedules from './migrations/0037-schedules.ts';
import * as firstToken from './migrations/0038-first-token.ts';
import * as chatsByChange from './migrations/0039-chats-by-change.ts';
import * as answeredQuestions from './migrations/0041-answered-questions.ts';
import * as unfinishedSteps from './migrations/0042-unfinished-steps.ts';
import * as costs from './migrations/0043-costs.ts';
import * as people from './migrations/0044-people.ts';
import * as audit from './migrations/0045-audit.ts';
import * as search from './migrations/0046-search.ts';
import * as answersByTime from './migrations/0047-answers-by-time.ts';
import * as wordsOfMembers from './migrations/0048-words-of-members.ts';
import * as reruns from './migrations/0049-reruns.ts';
import * as rememberedTools from './migrations/0050-remembered-tools.ts';
import * as joinedMeasures from './migrations/0052-joined-measures.ts';
import * as toolImages from './migrations/0053-tool-images.ts';
import * as summaries from './migrations/0054-summaries.ts';
import { raw } from './queries/raw.ts';
import type { Schema } from './schema.ts';
import type { Reads, StoreKind } from './store.ts';

const MIGRATIONS = {
  '0001-first': first,
  '0002-compaction': compaction,
  '0003-attachments': attachments,
  '0004-rowid-tables': rowidTables,
  '0006-scale-out': scaleOut,
  '0007-leases': leases,
  '0008-files': files,
  '0009-attachments-by-url': attachmentsByUrl,
  '0010-commit-marks': commitMarks,
  '0011-node-addresses': nodeAddresses,
  '0012-chat-filters': chatFilters,
  '0013-loops': loops,
  '0014-file-rows': fileRows,
  '0015-chat-titles-and-adjustments': chatTitlesAndAdjustments,
  '0016-erasures': erasures,
  '0017-questions': questions,
  '0018-sign-in': signIn,
  '0019-list-filters': listFilters,
  '0020-file-quotas': fileQuotas,
  '0021-pending-blobs': pendingBlobs,
  '0022-erasure-lookups': erasureLookups,
  '0023-members-by-row': membersByRow,
  '0024-active-runs': activeRuns,
  '0025-usage-rollups': usageRollups,
  '0026-compacted-chunks': compactedChunks,
  '0027-chosen-chat-ids': chosenChatIds,
  '0028-asking-runs': askingRuns,
  '0029-forks': forks,
  '0030-imported-history': importedHistory,
  '0035-deleted-responses': deletedResponses,
  '0036-webhooks': webhooks,
  '0037-schedules': schedules,
  '0038-first-token': firstToken,
  '0039-chats-by-change': chatsByChange,
  '0041-answered-questions': answeredQuestions,
  '0042-unfinished-steps': unfinishedSteps,
  '0043-costs': costs,
  '0044-people': people,
  '0045-audit': audit,
  '0046-search': search,
  '0047-answers-by-time': answersByTime,
  '0048-words-of-members': wordsOfMembers,
  '0049-reruns': reruns,
  '0050-remembered-tools': rememberedTools,
  '0052-joined-measures': joinedMeasures,
  '0053-tool-images': toolImages,
  '0054-summaries': summaries,
};

/** Returns the migrations that this program does not know. A newer version applied them. */
export function unknownMigrations(names: readonly string[]): string[] {
  return names.filter((name) => !(name in MIGRATIONS));
}

export const LATEST_MIGRATION = Object.keys(MIGRATIONS).at(-1) ?? '';

/** True if all migrations of this program were applied. */
export async function isMigrated(reads: Reads): Promise<boolean> {
  const applied = sql<{ name: string }>`select name from kysely_migration`;
  return (await reads.query((db) => raw(db, applied))).some(({ name }) => name === LATEST_MIGRATION);
}

function listMigrations(kind: StoreKind): Record<string, Migration> {
  return Object.fromEntries(
    Object.entries(MIGRATIONS).map(([name, { up }]) => [name, { up: (db: Kysely<unknown>) => up(db, kind) }]),
  );
}

/** A PostgreSQL database can contain tables of other programs in other schemas. */
async function currentSchema(db: Kysely<Schema>): Promise<string | undefined> {
  return (await sql<{ name: string }>`select current_schema() as name`.execute(db)).rows[0]?.name;
}

/** Returns the names of the migrations that were applied; none if the database is empty. */
async function appliedMigrations(db: Kysely<Schema>, kind: StoreKind, schema = ''): Promise<string[]> {
  const table = DEFAULT_MIGRATION_TABLE;
  // Not Kysely's introspection, which reads all columns of all tables.
  const found =
    kind === 'postgres'
      ? sql`select 1 from pg_catalog.pg_tables where schemaname = ${schema} and tablename = ${table}`
      : sql`select 1 from sqlite_master where type = 'table' and name = ${table}`;
  if ((await found.execute(db)).rows.length === 0) return [];
  return (await sql<{ name: string }>`select name from ${sql.table(table)}`.execute(db)).rows.map(({ name }) => name);
}

export interface MigrateOptions {
  /** The last migration to apply. If it is null or absent, all are applied. */
  readonly upTo?: string | null;
  /** Called before an earlier version's tables are changed. If it throws, they stay unchanged. */
  readonly beforeMigrating?: (() => Promise<void>) | undefined;
}

/** Applies the missing migrations. Throws, and changes nothing, if the schema is newer than this program. */
export async function migrate(db: Kysely<Schema>, kind: StoreKind, options: MigrateOptions = {}): Promise<void> {
  const { upTo = null, beforeMigrating } = options;
  const schema = kind === 'postgres' ? await currentSchema(db) : undefined;
  const applied = await appliedMigrations(db, kind, schema);
  if (unknownMigrations(applied).length > 0) {
    throw new StartRefused(
      'The database was made by a newer version of Runwire than this one; start that version, or restore a backup.',
    );
  }
  if (upTo === null && Object.keys(MIGRATIONS).every((name) => applied.includes(name))) return;
  if (applied.length > 0 && !applied.includes(LATEST_MIGRATION)) await beforeMigrating?.();
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => listMigrations(kind) },
    ...(schema === undefined ? {} : { migrationTableSchema: schema }),
  });
  const { error } = await (upTo === null ? migrator.migrateToLatest() : migrator.migrateTo(upTo));
  if (error !== undefined) throw error;
}
