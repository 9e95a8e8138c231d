import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { freshDatabase } from '@runwire/test-kit';
import { until } from '@runwire/test-kit/shortfall.ts';
import pg from 'pg';
import { CliServer, compileCache, getFolder, root, runwire } from './support/cli-process.ts';
import { furnish, look } from './support/furnished-house.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;
const MARK = 'moved-to-postgres';

/** What agents leave in chats. */
const KEPT = [
  'tool_images',
  'chat_states',
  'chat_states where agent is not null',
  'chats where summary_run_id is not null',
  `steps where kind = 'summary'`,
];

/** A reader may leave an empty log. */
const computeHash = (path: string) => hash('sha256', existsSync(path) ? readFileSync(path) : '');
/** The database with its log. Other files that a reader leaves do not count. */
const source = (dataDir: string) =>
  ['runwire.db', 'runwire.db-wal', 'secret'].map((name) => computeHash(join(dataDir, name)));

/** Its connection closes before its database is dropped. */
class Watcher extends pg.Client implements AsyncDisposable {
  static async connect(url: string): Promise<Watcher> {
    const watcher = new Watcher({ connectionString: url });
    await watcher.connect();
    return watcher;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}

test('a moved installation serves the same data and resumes its unfinished run', { skip }, async (t) => {
  await using database = await freshDatabase();
  const dataDir = getFolder(t);
  const embedded = { RUNWIRE_DATA_DIR: dataDir };
  const env = { ...embedded, DATABASE_URL: database.url };
  const { apiKey, seen, unfinished } = await furnish(embedded);
  const odd = new DatabaseSync(join(dataDir, 'runwire.db'));
  odd.exec(`update steps set call_id = 'a' || char(0) || 'b' where kind = 'tool'`);
  const stored = odd.prepare('select count(*) as runs from runs').get();
  const kept = KEPT.map((from) => odd.prepare(`select count(*) as rows from ${from}`).get()?.rows);
  assert.ok(!kept.includes(0), String(kept));
  odd.close();
  const before = source(dataDir);

  const { code, stdout, stderr } = await runwire(['move'], { env });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^Copied \d+ tables with \d+ rows .* counts and checksums are equal\.$/m);
  assert.match(stdout, new RegExp(`^  runs: ${stored?.runs}$`, 'm'));
  assert.deepEqual(source(dataDir), before, 'the source is as it was');
  await using client = await Watcher.connect(database.url);
  const { rows } = await client.query(`select distinct call_id from steps where kind = 'tool'`);
  assert.deepEqual(rows, [{ call_id: 'a\u0001b' }], 'as the store itself writes it');
  for (const [index, from] of KEPT.entries()) {
    const moved = (await client.query(`select count(*)::int as rows from ${from}`)).rows[0]?.rows;
    assert.equal(moved, kept[index], from);
  }

  const refused = await runwire(['serve'], { env: { ...embedded, PORT: '0' } });
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /^The installation in this data folder was moved to PostgreSQL at [^\n]+; set DATABASE_URL [^\n]+\.\n$/,
  );
  for (const args of [['move'], ['keys', 'create'], ['backup', '--to', join(getFolder(t), 'b')]]) {
    const again = await runwire(args, { env: args[0] === 'move' ? env : embedded });
    assert.equal(again.code, 1);
    assert.match(again.stderr, /was moved to PostgreSQL/);
  }

  await using server = await CliServer.start({ env });
  assert.match(server.stdout, /Runs left unfinished by the last stop, now resumed: 1/);
  const api = server.api(apiKey);
  const { status, store } = (await api.get('/readyz')).body;
  assert.deepEqual([status, store], ['ok', 'postgres']);
  assert.deepEqual(await look(api).then(withoutCallIds), withoutCallIds(seen));
  const { allowance } = (await api.get('/v2/integrations/house/members/ann')).body;
  assert.deepEqual(
    [allowance.used, allowance.reserved],
    [7, 1],
    'eight ended runs, of which an adjustment gave one back',
  );
  const path = `/v2/integrations/house/runs/${unfinished}`;
  assert.deepEqual((({ status, attempt }) => [status, attempt])((await api.get(path)).body), ['running', 2]);
  assert.equal((await api.post(`${path}/cancel`, {})).status, 200);
  const replayed = await api.complete({
    apiIntegrationId: 'house',
    consumerId: 'ann',
    chatId: 'talk',
    message: 'Zero \u0000, separator \u2028, clef 𝄞',
    usageRequestId: 'once',
  });
  assert.equal(replayed.headers['x-run-replayed'], 'true');
  await replayed.whole();
  await server.stop();

  rmSync(join(dataDir, MARK));
  await using back = await CliServer.start({ env: embedded });
  assert.equal((await back.api(apiKey).get('/v2/me')).status, 200, 'who takes the mark away goes back knowingly');
});

/** The test changes the call ids of steps directly in the database, so call ids are not compared. */
const withoutCallIds = (seen: ReadonlyMap<string, string>) =>
  [...seen].map(([path, body]) => [path, body.replaceAll(/"callId":"[^"]*"/g, '')]);

test('refuses to move a source or target that is used, missing or unsuitable', { skip }, async (t) => {
  await using database = await freshDatabase();
  const dataDir = getFolder(t);
  const env = { RUNWIRE_DATA_DIR: dataDir, DATABASE_URL: database.url };
  const refuses = async (sentence: RegExp, more: Readonly<Record<string, string>> = {}) => {
    const { code, stderr } = await runwire(['move'], { env: { ...env, ...more } });
    assert.match(stderr, sentence);
    assert.equal(stderr.trimEnd().split('\n').length, 1);
    assert.equal(code, 1);
    assert.ok(!existsSync(join(dataDir, MARK)));
  };
  await refuses(/^There is no installation in .*; start the server once/);
  const server = await CliServer.start({ env: { RUNWIRE_DATA_DIR: dataDir } });
  await refuses(/^Another Runwire server uses this data folder; stop it/);
  await server.stop();
  await refuses(/^`runwire move` needs DATABASE_URL/, { DATABASE_URL: '' });
  await refuses(/cannot be used/, { DATABASE_URL: `${database.url}_not_there` });

  const embedded = new DatabaseSync(join(dataDir, 'runwire.db'));
  const last = embedded.prepare('select * from kysely_migration order by name desc limit 1').get() ?? {};
  embedded.exec(`insert into kysely_migration values ('9999-future', '2030-01-01')`);
  await refuses(/newer version of Runwire/);
  embedded.exec(`delete from kysely_migration where name in ('9999-future', '${last.name}')`);
  await refuses(/was made by an older version; start this version on it once/);
  embedded.exec(`insert into kysely_migration values ('${last.name}', '${last.timestamp}')`);
  embedded.close();

  await (await CliServer.start({ env: { ...env, RUNWIRE_DATA_DIR: getFolder(t) } })).stop();
  await refuses(/^An installation already exists in the database [^ ]+; set DATABASE_URL to an empty one\.$/m);
});

/** Makes the database wait for lock 42 in a trigger of this table: before a row is inserted, or at the commit. */
async function holdAt(client: pg.Client, table: string, kind: 'before insert' | 'commit'): Promise<void> {
  const trigger =
    kind === 'commit'
      ? `create constraint trigger hold after insert on ${table} deferrable initially deferred for each row execute function hold()`
      : `create trigger hold before insert on ${table} execute function hold()`;
  await client.query(`
    create function hold() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(42); return new; end $$;
    create function plant() returns event_trigger language plpgsql as $$
      declare made record;
      begin
        for made in select object_identity from pg_event_trigger_ddl_commands() where object_type = 'table' loop
          if made.object_identity = 'public.${table}' then execute '${trigger}'; end if;
        end loop;
      end $$;
    create event trigger planted on ddl_command_end when tag in ('CREATE TABLE') execute function plant();
    select pg_advisory_lock(42)`);
}

async function letGo(client: pg.Client): Promise<void> {
  await client.query('drop event trigger planted; select pg_advisory_unlock(42)');
}

const waits = async (client: pg.Client) =>
  (await client.query(`select 1 from pg_locks where locktype = 'advisory' and objid = 42 and not granted`)).rows
    .length > 0;
const others = `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;

/** Runs `runwire move` and kills it when it waits for the lock in the database. */
async function killedAtHold(client: pg.Client, env: Readonly<Record<string, string>>): Promise<void> {
  const command = ['-C', 'runwire', join(root, 'packages/cli/src/main.ts'), 'move'];
  const given = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: compileCache, ...env };
  const child = spawn(process.execPath, command, { env: given, stdio: 'ignore' });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  await until('the move waits', () => waits(client));
  child.kill('SIGKILL');
  await gone;
  await letGo(client);
  await until('its connection is gone', async () => (await client.query(others)).rows.length === 0);
}

test('a move that is killed leaves the database empty and the source unchanged', { skip }, async (t) => {
  await using database = await freshDatabase();
  const dataDir = getFolder(t);
  const env = { RUNWIRE_DATA_DIR: dataDir, DATABASE_URL: database.url };
  await furnish({ RUNWIRE_DATA_DIR: dataDir });
  const before = source(dataDir);
  await using client = await Watcher.connect(database.url);
  await holdAt(client, 'steps', 'before insert');
  await killedAtHold(client, env);
  const { rows } = await client.query(`select table_name from information_schema.tables where table_schema = 'public'`);
  assert.deepEqual(rows, []);
  assert.deepEqual(source(dataDir), before);
  assert.ok(!existsSync(join(dataDir, MARK)));
  const { code, stderr } = await runwire(['move'], { env });
  assert.equal(code, 0, stderr);
});

test('a move that is killed in its commit leaves one installation', { skip }, async (t) => {
  await using database = await freshDatabase();
  const dataDir = getFolder(t);
  const env = { RUNWIRE_DATA_DIR: dataDir, DATABASE_URL: database.url };
  const { apiKey } = await furnish({ RUNWIRE_DATA_DIR: dataDir });
  await using client = await Watcher.connect(database.url);
  await holdAt(client, 'installation', 'commit');
  await killedAtHold(client, env);
  const refused = await runwire(['serve'], { env: { RUNWIRE_DATA_DIR: dataDir, PORT: '0' } });
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /^The installation in this data folder was being moved [^\n]+; run `runwire move` again [^\n]+\.\n$/,
  );
  const { code, stdout, stderr } = await runwire(['move'], { env });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^(An earlier move had already copied everything|Copied 16 tables)/);
  await using server = await CliServer.start({ env });
  assert.equal((await server.api(apiKey).get('/v2/me')).status, 200);
  assert.match((await runwire(['serve'], { env: { RUNWIRE_DATA_DIR: dataDir, PORT: '0' } })).stderr, /was moved to/);
});
