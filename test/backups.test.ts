import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { restore, backup as takeBackup } from '@runwire/server';
import { askDatabase, freshDatabase, temporaryFolder } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { CliServer, getFolder, runwire } from './support/cli-process.ts';
import { until } from './support/eventually.ts';
import { type FurnishedHouse, furnish, look } from './support/furnished-house.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;

type Env = Readonly<Record<string, string>>;

let house: FurnishedHouse;
const shared = temporaryFolder();
const env = { RUNWIRE_DATA_DIR: join(shared, 'data') };
const backup = join(shared, 'backup');

before(async () => {
  house = await furnish(env);
  await done(['backup', '--to', backup], env);
});
after(() => rmSync(shared, { recursive: true, force: true }));

/** Runs the command in this process: its own process would cost ten times as much. */
async function done([command, , folder = '']: readonly string[], given: Env): Promise<string> {
  const run = command === 'backup' ? takeBackup : restore;
  const { text, isWhole } = await run(given, folder);
  assert.ok(isWhole, text);
  return text;
}

/** Runs a command that must fail with one sentence. */
async function refused(args: readonly string[], given: Env, sentence: RegExp): Promise<void> {
  await assert.rejects(done(args, given), ({ message }: Error) => sentence.test(message) && !message.includes('\n'));
}

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

/** Returns tables as sets of lines, because the order is up to the database. */
const listTables = (folder: string) =>
  Object.fromEntries(
    readdirSync(join(folder, 'tables'))
      .filter((name) => name !== 'nodes.jsonl')
      .map((name) => [
        name,
        readFileSync(join(folder, 'tables', name), 'utf8')
          .split('\n')
          .toSorted(),
      ]),
  );

/** Tables that runs, forks, uploads and sweeps write besides `runs`. */
const SWEPT_TABLES = [
  'active_runs',
  'unsuccessful_runs',
  'uncounted_runs',
  'usage_hours',
  'usage_walk',
  'sweep_positions',
  'skipped_runs',
  'compacted_chunks',
  'shared_runs',
  'chat_states',
  'asked_questions',
  'transient_chats',
  'webhook_endpoints',
  'webhook_events',
  'webhook_deliveries',
];

test('a backup restores from either store to either store, and its run resumes', { skip }, async (t) => {
  cites(
    t,
    'contract-19-backups',
    'contract-30-backups',
    'contract-31-copies',
    'agents-34-deleted',
    'agents-34-lasts-deleted',
  );
  await using database = await freshDatabase();
  const postgres = { RUNWIRE_DATA_DIR: getFolder(t), DATABASE_URL: database.url };
  const folder = getFolder(t);
  await done(['restore', '--from', backup], postgres);
  await done(['backup', '--to', join(folder, 'of-postgres')], postgres);
  const embedded = { RUNWIRE_DATA_DIR: getFolder(t) };
  await done(['restore', '--from', join(folder, 'of-postgres')], embedded);
  await done(['backup', '--to', join(folder, 'of-embedded')], embedded);
  const tables = listTables(backup);
  for (const name of SWEPT_TABLES) assert.ok((tables[`${name}.jsonl`]?.length ?? 0) > 1, `${name} has rows`);
  const has = (name: string, pattern: RegExp) => tables[`${name}.jsonl`]?.some((line) => pattern.test(line));
  assert.ok(has('chats', /,"run_\w+"\]$/) && has('steps', /,"summary",/), 'there is a summary');
  assert.ok(has('tool_images', /,"att_\w+",/), 'there is an image of a tool');
  assert.deepEqual(listTables(join(folder, 'of-postgres')), tables);
  assert.deepEqual(listTables(join(folder, 'of-embedded')), tables);
  for (const name of ['blobs.jsonl', 'secret']) {
    assert.deepEqual(
      readFileSync(join(folder, 'of-embedded', name), 'utf8')
        .split('\n')
        .toSorted(),
      readFileSync(join(backup, name), 'utf8').split('\n').toSorted(),
    );
  }
  const summarized = await askDatabase(database.url, 'select 1 from chats join runs on run_id = summary_run_id');
  assert.equal(summarized.length, 1);
  const there = /An installation already exists in the database [^ ]+;/;
  await refused(['restore', '--from', backup], postgres, there);
  await refused(
    ['backup', '--to', join(folder, 'x')],
    { ...postgres, RUNWIRE_DATA_DIR: getFolder(t) },
    /is not the one in which this installation keeps its files .* is missing/,
  );
  await using server = await CliServer.start({ env: postgres });
  assert.match(server.stdout, /now resumed: 1/);
  const api = server.api(house.apiKey);
  assert.deepEqual(await look(api), house.seen);
  // The index of words is not in the backup. Searches find everything before and after it was built.
  const finds = async () => {
    const { items } = (await api.get('/v2/integrations/house/chats?q=look')).body;
    return items.map(({ chatId }: { chatId: string }) => chatId);
  };
  const found = await finds();
  assert.deepEqual(found, ['talk 2', 'talk']);
  await until(async () => (await askDatabase(database.url, 'select rest from search_state'))[0]?.rest === null);
  assert.deepEqual(await finds(), found);
});

test('a backup is private, and has the secret unless a setting gives it', async (t) => {
  for (const { parentPath, name } of listFiles(backup)) {
    assert.equal(statSync(join(parentPath, name)).mode & 0o077, 0, name);
  }
  assert.ok(
    readFileSync(join(backup, 'secret'), 'utf8').includes(
      readFileSync(join(env.RUNWIRE_DATA_DIR, 'secret'), 'utf8').trim(),
    ),
  );
  const without = join(getFolder(t), 'backup');
  const said = await done(['backup', '--to', without], { ...env, RUNWIRE_SECRET: 'x'.repeat(40) });
  assert.match(said, /store the value of RUNWIRE_SECRET/);
  assert.ok(!existsSync(join(without, 'secret')));
  const restored = getFolder(t);
  chmodSync(restored, 0o755);
  const said2 = await done(['restore', '--from', without], { RUNWIRE_DATA_DIR: restored });
  assert.match(said2, /set RUNWIRE_SECRET to the value that it had/);
  const names = readdirSync(restored, { recursive: true, encoding: 'utf8' });
  assert.ok(names.includes('runwire.db'));
  assert.deepEqual(
    names.filter((name) => (statSync(join(restored, name)).mode & 0o077) !== 0),
    [],
  );
});

const DAMAGES: readonly [string, (folder: string) => void, RegExp][] = [
  [
    'a changed row',
    (folder) => swap(join(folder, 'tables/runs.jsonl'), 'completed', 'cancelled'),
    /is damaged: tables\/runs\.jsonl/,
  ],
  [
    'a table that is cut short',
    (folder) => writeFileSync(join(folder, 'tables/steps.jsonl'), ''),
    /is damaged: tables\/steps\.jsonl/,
  ],
  [
    'a table that is not there',
    (folder) => rmSync(join(folder, 'tables/chats.jsonl')),
    /is damaged: tables\/chats\.jsonl/,
  ],
  [
    'a changed manifest',
    (folder) => swap(join(folder, 'manifest.json'), '"owner_id"', '"email"'),
    /is damaged: its manifest/,
  ],
  ['a version newer than this', makeNewer, /was made by a newer version of Runwire/],
  ['no manifest', (folder) => rmSync(join(folder, 'manifest.json')), /is not a backup, or not a complete one/],
  ['a lost secret', (folder) => rmSync(join(folder, 'secret')), /is damaged: secret/],
  ['a lost image', (folder) => rmSync(makeImage(folder)), /is damaged: the file blobs\/[0-9a-f]{64}-/],
  ['a changed image', (folder) => writeFileSync(makeImage(folder), 'x'), /is damaged: the file blobs\/[0-9a-f]{64}-/],
  ['a lost file', (folder) => rmSync(largestIn(folder)), /is damaged: the file blobs\/[0-9a-f]{48} is missing or was/],
  ['a changed file', (folder) => writeFileSync(largestIn(folder), 'x'), /is damaged: the file blobs\/[0-9a-f]{48} is/],
  ['a changed list of blobs', (folder) => swap(join(folder, 'blobs.jsonl'), '-', '_'), /is damaged: blobs\.jsonl/],
  ['an earlier format', makeEarlier, /was made by an earlier version of Runwire .*; restore it with that version\.$/],
];

const blobsIn = (folder: string) =>
  listFiles(join(folder, 'blobs'))
    .filter(({ name }) => name !== 'installation')
    .map(({ parentPath, name }) => join(parentPath, name));

const makeImage = (folder: string) => blobsIn(folder).find((path) => basename(path).includes('-')) ?? '';

const largestIn = (folder: string) =>
  blobsIn(folder).reduce((one, other) => (statSync(one).size > statSync(other).size ? one : other));

test('a backup names files that are missing or damaged, and exits 3', async (t) => {
  const folder = getFolder(t);
  const place = { RUNWIRE_DATA_DIR: join(folder, 'data') };
  cpSync(env.RUNWIRE_DATA_DIR, place.RUNWIRE_DATA_DIR, { recursive: true });
  const damaged = largestIn(place.RUNWIRE_DATA_DIR);
  truncateSync(damaged, 1_000_000);
  const lost = makeImage(place.RUNWIRE_DATA_DIR);
  rmSync(lost);
  const to = join(folder, 'backup');
  const { code, stdout, stderr } = await runwire(['backup', '--to', to], { env: place });
  assert.equal(code, 3, stderr);
  assert.match(stdout, /^Backed up \d+ rows and 5 attachments and files, /);
  assert.match(stdout, /^The backup lacks the attachments and files that are missing or damaged here \(2\)\. /m);
  const named = readFileSync(join(to, 'missing-blobs.jsonl'), 'utf8').trim().split('\n');
  assert.deepEqual(named.map((line) => JSON.parse(line)).sort(), [damaged, lost].map((path) => basename(path)).sort());
  const restored = await restore({ RUNWIRE_DATA_DIR: getFolder(t) }, to);
  assert.match(restored.text, /^Restored \d+ rows and 5 attachments and files, /);
});

function makeEarlier(folder: string): void {
  changeManifest(folder, (manifest) => ({ ...manifest, format: 2 }));
}

function makeNewer(folder: string): void {
  changeManifest(folder, (manifest) => ({ ...manifest, migrations: [...manifest.migrations, '9999-future'] }));
}

function changeManifest(folder: string, change: (manifest: { migrations: string[] }) => object): void {
  const path = join(folder, 'manifest.json');
  const manifest = change(JSON.parse(readFileSync(path, 'utf8')).manifest);
  writeFileSync(path, JSON.stringify({ sha256: hash('sha256', JSON.stringify(manifest)), manifest }));
}

const swap = (path: string, from: string, to: string) =>
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));

for (const [damage, inflict, sentence] of DAMAGES) {
  test(`refuses a backup with ${damage} and leaves the place empty`, async (t) => {
    const damaged = join(getFolder(t), 'damaged');
    cpSync(backup, damaged, { recursive: true });
    inflict(damaged);
    const place = { RUNWIRE_DATA_DIR: getFolder(t) };
    await assert.rejects(restore(place, damaged), sentence);
    assert.ok(!readdirSync(place.RUNWIRE_DATA_DIR).some((name) => name.startsWith('runwire.db')));
  });
}

test('refuses a backup or restore over existing data, or of nothing', async (t) => {
  const folder = getFolder(t);
  await refused(['backup', '--to', backup], env, /is not empty; name a new or empty folder with --to/);
  await refused(
    ['backup', '--to', join(folder, 'b')],
    { RUNWIRE_DATA_DIR: join(folder, 'none') },
    /There is no installation in/,
  );
  await refused(['restore', '--from', backup], env, /An installation already exists in .*; set RUNWIRE_DATA_DIR/);
  assert.deepEqual(readdirSync(folder), [], 'nothing half is left');
  for (const command of ['backup', 'restore']) {
    const { code, stderr } = await runwire([command], { env });
    assert.equal(code, 2);
    assert.match(stderr, /^Name a folder with --(to|from)\.\n\nUsage:/);
  }
  const server = await CliServer.start({ env });
  await refused(['restore', '--from', backup], env, /Another Runwire server uses this data folder/);
  await server.stop('SIGKILL');
});
