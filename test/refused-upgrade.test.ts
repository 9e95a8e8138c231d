import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { askDatabase, freshDatabase, ServerProcess, startTestServer } from '@runwire/test-kit';
import { folderOf } from './support/cli-process.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;
const limits = { leaseMs: 3000, beatMs: 500, sweepMs: 3_600_000 };
const FIRST_UNDONE = '0008-files';

/** Reverts the last migrations, so that the tables are as in the previous version. */
const EARLIER = [
  ...['loop', 'index_in_loop'].map((column) => `alter table steps drop column ${column}`),
  ...['agency_version', 'structured'].map((column) => `alter table runs drop column ${column}`),
  'alter table integrations drop column model',
  ...['newest', 'consumer'].map((name) => `drop index chats_${name}`),
  ...['host', 'address'].map((column) => `alter table nodes drop column ${column}`),
  'drop table commit_marks',
  'drop index attachments_without_copy',
  ...['kind', 'url', 'url_key', 'filename_json', 'form', 'pages'].map(
    (column) => `alter table attachments drop column ${column}`,
  ),
  'alter table messages drop column sandbox_files_json',
  'alter table blob_folder drop column kind',
  'alter table integrations drop column files_deleted_at',
  'drop table upload_secrets',
  'drop table upload_forms',
  `delete from kysely_migration where name >= '${FIRST_UNDONE}'`,
];
const APPLIED = 'select name from kysely_migration order by name';
const OTHER_PLACE = {
  name: 'StartRefused',
  message: /^S3_BUCKET is set, but this installation keeps its files on the/,
};
const OTHER_NODE = { name: 'StartRefused', message: /^Another node of this installation is running \(node_\w+\), / };
const elsewhere = {
  S3_BUCKET: 'another',
  S3_ENDPOINT: 'http://127.0.0.1:9',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'x',
  AWS_SECRET_ACCESS_KEY: 'x',
};

async function toEarlier(url: string): Promise<void> {
  for (const statement of EARLIER) await askDatabase(url, statement);
}

async function isMigrated(url: string): Promise<boolean> {
  return (await askDatabase(url, APPLIED)).some(({ name }) => name === FIRST_UNDONE);
}

test('a start that another node refuses leaves the earlier tables unchanged', { skip }, async (t) => {
  await using database = await freshDatabase();
  const options = { dataDir: folderOf(t), env: { DATABASE_URL: database.url, RUNWIRE_SHARED_DISK: '' }, limits };
  await using _ = await startTestServer(options);
  await toEarlier(database.url);
  await assert.rejects(startTestServer(options), OTHER_NODE);
  assert.equal(await isMigrated(database.url), false);
  const env = { ...options.env, RUNWIRE_SHARED_DISK: 'true' };
  await using second = await startTestServer({ ...options, env });
  assert.equal((await second.api.get('/v2/nodes')).body.items.length, 2);
  assert.equal(await isMigrated(database.url), true);
});

test('names a node of a version without heartbeats, and what to do', { skip }, async (t) => {
  await using database = await freshDatabase();
  const options = { dataDir: folderOf(t), env: { DATABASE_URL: database.url, RUNWIRE_SHARED_DISK: '' }, limits };
  await (await startTestServer(options))[Symbol.asyncDispose]();
  await askDatabase(
    database.url,
    `insert into nodes (node_id, boot, dead, version, started_at) values ('node_old', 'x', 0, '0', 1)`,
  );
  const remedy = `update nodes set dead = 1 where node_id = 'node_old'`;
  const message = new RegExp(
    `^A node of an earlier version, which sends no heartbeats, is listed as alive \\(node_old\\), [^\n]+ \`${remedy}\` [^\n]+\\.$`,
  );
  await assert.rejects(startTestServer(options), { name: 'StartRefused', message });
  await toEarlier(database.url);
  await assert.rejects(startTestServer(options), { name: 'StartRefused', message });
  assert.equal(await isMigrated(database.url), false);
  await askDatabase(database.url, remedy);
  await (await startTestServer(options))[Symbol.asyncDispose]();
});

test('an upgrade after a crash waits for the lease of the dead node', { skip }, async (t) => {
  await using database = await freshDatabase();
  const options = { dataDir: folderOf(t), env: { DATABASE_URL: database.url, RUNWIRE_SHARED_DISK: '' }, limits };
  {
    await using first = await ServerProcess.start(options);
    await first.kill();
  }
  await toEarlier(database.url);
  await using second = await startTestServer(options);
  assert.equal((await second.api.get('/readyz')).status, 200);
  assert.equal(await isMigrated(database.url), true);
});

test('a start with files elsewhere leaves PostgreSQL unchanged', { skip }, async (t) => {
  await using database = await freshDatabase();
  const options = { dataDir: folderOf(t), env: { DATABASE_URL: database.url }, limits };
  await (await startTestServer(options))[Symbol.asyncDispose]();
  await toEarlier(database.url);
  await assert.rejects(startTestServer({ ...options, env: { ...options.env, ...elsewhere } }), OTHER_PLACE);
  assert.equal(await isMigrated(database.url), false);
});

test('a start with files in another kind of place leaves SQLite unchanged', async (t) => {
  const options = { dataDir: folderOf(t), env: { DATABASE_URL: '' }, limits };
  await (await startTestServer(options))[Symbol.asyncDispose]();
  using database = new DatabaseSync(join(options.dataDir, 'runwire.db'));
  database.exec(EARLIER.join(';'));
  const isThere = () =>
    database
      .prepare(APPLIED)
      .all()
      .some(({ name }) => name === FIRST_UNDONE);
  await assert.rejects(startTestServer({ ...options, env: { ...options.env, ...elsewhere } }), OTHER_PLACE);
  assert.equal(isThere(), false);
  await (await startTestServer(options))[Symbol.asyncDispose]();
  assert.equal(isThere(), true);
});
