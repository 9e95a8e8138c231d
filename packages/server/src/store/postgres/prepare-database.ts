import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import { Client, DatabaseError, Pool } from 'pg';
import { StartRefused } from '../../domain/start-refused.ts';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import { withEventBound } from '../event-bound.ts';
import { migrate } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { isLockTimeout, LostRace, translate } from './errors.ts';
import { ignoreErrorEvents, type PostgresSettings, plainConfig, sessionConfig } from './settings.ts';

const OLDEST_VERSION = 15;
const MIGRATION_ATTEMPTS = 20;
/** After a wait for a lock: the transactions that waited after the migration run first. */
const MIGRATION_PAUSE_MS = 1000;

/** Checks that can refuse a start before the database is changed. */
export interface StartChecks {
  /** If the database has none of our tables, the start is refused with this error. Null allows an empty database. */
  readonly refusedIfEmpty?: StartRefused | null;
  /** Called before an earlier version's tables are changed. */
  readonly beforeMigrating?: (() => Promise<void>) | undefined;
}

/**
 * Checks that this database can be used, and applies the missing migrations. Several nodes may do this concurrently. An
 * empty database stays empty if `refusedIfEmpty` is set.
 */
export async function prepareDatabase(
  settings: PostgresSettings,
  migrates: boolean,
  { refusedIfEmpty = null, beforeMigrating }: StartChecks = {},
): Promise<void> {
  const pool = new Pool({ ...plainConfig(settings), max: 2 });
  ignoreErrorEvents(pool);
  // This connection is configured like all later ones, so a setting that the role may not change is reported here.
  const client = new Client(sessionConfig(settings));
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string; encoding: string; made: boolean }>(
      `select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding,
         to_regclass('installation') is not null as made`,
    );
    const version = Math.floor(Number(rows[0]?.version) / 10_000);
    if (version < OLDEST_VERSION) {
      throw new StartRefused(
        `The database of DATABASE_URL is PostgreSQL ${version}; use PostgreSQL ${OLDEST_VERSION} or later.`,
      );
    }
    if (rows[0]?.encoding !== 'UTF8') {
      throw new StartRefused(
        `The database of DATABASE_URL has the encoding ${rows[0]?.encoding}; create one with the encoding UTF8.`,
      );
    }
    if (refusedIfEmpty !== null && rows[0]?.made !== true) throw refusedIfEmpty;
    const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
    if (migrates) {
      await migrateAmongNodes(() =>
        withEventBound(db, (addBound) =>
          migrate(db, 'postgres', {
            beforeMigrating: async () => {
              await beforeMigrating?.();
              await addBound();
            },
          }),
        ),
      );
    }
  } catch (error) {
    throw startRefusal(error);
  } finally {
    await client.end();
    await pool.end();
  }
}

/**
 * Kysely's migrator holds a lock in the database. A second node waits for it and finds the migrations done. Nodes of an
 * earlier version use the tables that a migration locks: if it deadlocks with them, or waits too long, it is rolled back and
 * repeated.
 */
async function migrateAmongNodes(migrateOnce: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await migrateOnce();
    } catch (error) {
      const isRepeated = isLockTimeout(error) || translate(error) instanceof LostRace;
      if (!isRepeated || attempt === MIGRATION_ATTEMPTS) throw error;
      if (isLockTimeout(error)) await sleep(MIGRATION_PAUSE_MS);
    }
  }
}

/** Turns what the operator can fix into one sentence. The driver's messages contain no password. */
function startRefusal(error: unknown): unknown {
  if (error instanceof StartRefused || !(error instanceof Error)) return error;
  const reason = getReason(error);
  // A refused password, role or database, a schema that the role may not write to, or a setting that does not exist here.
  const isRefused = error instanceof DatabaseError && /^(28|3D|42501|22023|42704)/.test(error.code ?? '');
  if (!isRefused && !(translate(error) instanceof StoreUnavailable)) return error;
  return new StartRefused(`The database of DATABASE_URL cannot be used (${reason}); ${remedyFor(reason)}.`);
}

function remedyFor(reason: string): string {
  if (/unsupported startup parameter/.test(reason)) {
    return 'if DATABASE_URL leads to PgBouncer, add ?pgbouncer=true to it';
  }
  // PostgreSQL accepts only 0 if its system cannot check connections, such as Windows.
  if (/client_connection_check_interval/.test(reason)) {
    return 'if it cannot check connections, add ?options=-c%20client_connection_check_interval%3D0 to DATABASE_URL';
  }
  return 'fix that, or DATABASE_URL';
}

function getReason(error: Error): string {
  // The host name has several addresses, and none of them answered.
  if (error instanceof AggregateError) return String(error.errors[0]?.message);
  // Kysely's migrator throws this after its connection was lost.
  return error.message.startsWith('Postgres connection has been discarded') ? 'the connection was lost' : error.message;
}
