import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { SqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { dropDatabase, makeDatabase, PostgresServer, queryDatabase } from './postgres-server.ts';

/** Which store the servers of this test run use: `TEST_STORE=postgres`, or the embedded one. */
export const testStore: 'sqlite' | 'postgres' = process.env.TEST_STORE === 'postgres' ? 'postgres' : 'sqlite';

/** The embedded store in a folder, without a server around it. */
export function embeddedStore(folder: string): Promise<Store> {
  const onFatal = (error: unknown) => {
    throw error;
  };
  return SqliteStore.open({ path: join(folder, 'test.db'), migrate: true, waitAt: undefined, onFatal });
}

let own: Promise<PostgresServer> | null = null;

/** The gate's own server where it started one; otherwise one of this process, which ends with it. */
export async function sharedPostgresUrl(): Promise<string> {
  const given = process.env.TEST_POSTGRES_URL;
  if (given !== undefined && given !== '') return given;
  own ??= PostgresServer.start();
  return (await own).url();
}

/** Ends the server of this process, if there is one; a process that is killed takes it along anyway. */
export async function stopOwnPostgres(): Promise<void> {
  const server = own;
  own = null;
  await (await server)?.[Symbol.asyncDispose]();
}

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** An empty database that goes with the test. */
export async function freshDatabase(): Promise<TestDatabase> {
  const admin = await sharedPostgresUrl();
  const url = await makeDatabase(admin, `test_${randomBytes(8).toString('hex')}`);
  return { url, [Symbol.asyncDispose]: () => dropDatabase(admin, url) };
}

const byDataFolder = new Map<string, Promise<TestDatabase>>();

/** The environment that a server of this data folder needs: on PostgreSQL a database of its own, the same each time. */
export async function storeEnvironment(dataDir: string): Promise<Record<string, string>> {
  if (testStore === 'sqlite') return {};
  let database = byDataFolder.get(dataDir);
  if (database === undefined) {
    database = freshDatabase();
    byDataFolder.set(dataDir, database);
  }
  return { DATABASE_URL: (await database).url };
}

/** All nodes of this data folder are gone, and everybody knows: what others learn by waiting, where they share a database. */
export async function noteDeaths(dataDir: string): Promise<void> {
  const database = byDataFolder.get(dataDir);
  if (database === undefined) return;
  await queryDatabase((await database).url, 'update nodes set dead = 1 where dead = 0');
}

export async function forgetStore(dataDir: string): Promise<void> {
  const database = byDataFolder.get(dataDir);
  byDataFolder.delete(dataDir);
  await (await database)?.[Symbol.asyncDispose]();
}
