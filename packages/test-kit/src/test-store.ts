import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataFolder } from '@runwire/server/src/config/data-folder.ts';
import { PostgresStore } from '@runwire/server/src/store/postgres/postgres-store.ts';
import { NODE_ALIVE, NODE_DEAD } from '@runwire/server/src/store/schema.ts';
import { SqliteStore } from '@runwire/server/src/store/sqlite/sqlite-store.ts';
import type { Store } from '@runwire/server/src/store/store.ts';
import { temporaryFolder } from '@runwire/server/testing';
import {
  askDatabase,
  dropDatabase,
  makeDatabase,
  makeTemplate,
  PostgresServer,
  postgresFolder,
  SHARED_SETTINGS,
} from './postgres-server.ts';

export type StoreName = 'sqlite' | 'postgres';

/** The stores that tests run on. PostgreSQL is left out if it is not installed, but never in CI: there its tests fail. */
export const STORES: readonly StoreName[] =
  postgresFolder() === null && !process.env.CI ? ['sqlite'] : ['sqlite', 'postgres'];

/** For proofs, which run on one store. */
const defaultStore: StoreName = process.env.TEST_STORE === 'postgres' ? 'postgres' : 'sqlite';

export const EMBEDDED_FILE = 'test.db';

/** Opens the embedded store in a folder, without a server. */
export function embeddedStore(folder: string): Promise<SqliteStore> {
  const onFatal = (error: unknown) => {
    throw error;
  };
  return SqliteStore.open({ path: join(folder, EMBEDDED_FILE), migrate: true, waitAt: undefined, onFatal });
}

let embeddedTemplate: Promise<Buffer> | null = null;

/** Puts an embedded database with the schema into a new data folder. Measured: 20 CPU ms less than its migrations. */
export async function copyEmbeddedTemplate(dataDir: string): Promise<void> {
  embeddedTemplate ??= makeEmbeddedTemplate();
  writeFileSync(dataFolder(dataDir).database, await embeddedTemplate, { mode: 0o600 });
}

async function makeEmbeddedTemplate(): Promise<Buffer> {
  const folder = temporaryFolder();
  try {
    const store = await embeddedStore(folder);
    // Closed before the read: until then a part of the database is in its WAL.
    await store[Symbol.asyncDispose]();
    return readFileSync(join(folder, EMBEDDED_FILE));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Opens the store in a PostgreSQL database, without a server. */
export function postgresStore(url: string): Promise<Store> {
  return PostgresStore.open({ url, pool: 4, pooled: false, migrate: true, waitAt: undefined });
}

let own: Promise<PostgresServer> | null = null;

/** The server that the gate started, if there is one; otherwise a server of this process, which ends with it. */
export async function sharedPostgresUrl(): Promise<string> {
  const given = process.env.TEST_POSTGRES_URL;
  if (given !== undefined && given !== '') return given;
  own ??= startOwn();
  return (await own).url();
}

/** A test file that runs alone ends with its tests: the server does not keep the process alive. */
async function startOwn(): Promise<PostgresServer> {
  const server = await PostgresServer.start(SHARED_SETTINGS);
  server.unref();
  process.once('beforeExit', () => void stopOwnPostgres());
  return server;
}

/** Ends this process's server, if there is one. If this process is killed, the server ends with it. */
export async function stopOwnPostgres(): Promise<void> {
  const server = own;
  own = null;
  await (await server)?.[Symbol.asyncDispose]();
}

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** An empty database, for tests of the first start. It is dropped with the test. */
export async function freshDatabase(): Promise<TestDatabase> {
  const admin = await sharedPostgresUrl();
  const url = await makeDatabase(admin, `test_${randomBytes(8).toString('hex')}`);
  return { url, [Symbol.asyncDispose]: () => dropDatabase(admin, url) };
}

let template: Promise<string> | null = null;

/** Copied for each test. Measured: a copy costs 35 CPU ms, an empty database with its migrations 400. */
async function migratedTemplate(admin: string): Promise<string> {
  template ??= makeTemplate(admin, 'runwire_template', async (url) => {
    await using _ = await PostgresStore.open({ url, pool: 1, pooled: false, migrate: true, waitAt: undefined });
  });
  return template;
}

/** A database with the schema, in which no server has started yet. It is dropped with the test. */
export async function migratedDatabase(): Promise<TestDatabase> {
  const admin = await sharedPostgresUrl();
  const url = await makeDatabase(admin, `test_${randomBytes(8).toString('hex')}`, await migratedTemplate(admin));
  return { url, [Symbol.asyncDispose]: () => dropDatabase(admin, url) };
}

const byDataFolder = new Map<string, Promise<TestDatabase>>();

/** The environment that a server of this data folder needs. The first call for a folder decides which store it uses. */
export async function storeEnvironment(dataDir: string, store = defaultStore): Promise<Record<string, string>> {
  let database = byDataFolder.get(dataDir);
  if (database === undefined && store === 'postgres') {
    database = migratedDatabase();
    byDataFolder.set(dataDir, database);
  }
  return database === undefined ? {} : { DATABASE_URL: (await database).url };
}

/**
 * Fences the servers that used this data folder. Call it after they died: on PostgreSQL other nodes would fence them only
 * after 8 s without a heartbeat. On the embedded store the folder's lock is free immediately.
 */
export async function fenceServers(dataDir: string): Promise<void> {
  const database = byDataFolder.get(dataDir);
  if (database !== undefined)
    await askDatabase((await database).url, `update nodes set dead = ${NODE_DEAD} where dead = ${NODE_ALIVE}`);
}

export async function forgetStore(dataDir: string): Promise<void> {
  const database = byDataFolder.get(dataDir);
  byDataFolder.delete(dataDir);
  await (await database)?.[Symbol.asyncDispose]();
}
