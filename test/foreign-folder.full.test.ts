import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { backup, migrateToPostgres, restore } from '@runwire/server';
import { askDatabase, freshDatabase, postgresStore } from '@runwire/test-kit';
import { getFolder } from './support/cli-process.ts';
import { checkChatContinues, getEnv, getMark, imagesIn, type Place, startAt, useOnce } from './support/one-image.ts';
import { missingService } from './support/services.ts';
import { download, upload } from './support/uploads.ts';

const skip = (await missingService('postgres')) ?? false;
const FOREIGN = {
  name: 'StartRefused',
  message: /^The folder \S+\/blobs holds files of another installation; set [^\n]+\.$/,
};
const EMBEDDED = {
  name: 'SettingRefused',
  message:
    /^The data folder \S+ contains an embedded installation, and the database \S+ contains none; run `runwire move` [^\n]+\.$/,
};
const listTables = (url: string) => askDatabase(url, `select tablename from pg_tables where schemaname = 'public'`);

/** After the refusal, the folder and the database are unchanged. */
async function isLeftAlone(dataDir: string, attempt: () => Promise<unknown>, refusal: object): Promise<void> {
  const files = () => (readdirSync(dataDir, { recursive: true }) as string[]).filter((path) => path !== 'lock.db');
  const before = files();
  await assert.rejects(attempt, refusal);
  assert.deepEqual(files(), before);
}

test('an embedded start refuses the folder of another installation', { skip }, async (t) => {
  await using database = await freshDatabase();
  const place = { dataDir: getFolder(t), url: database.url };
  await useOnce(place);
  await isLeftAlone(place.dataDir, () => startAt({ ...place, url: '' }), FOREIGN);
  rmSync(getMark(place.dataDir));
  await isLeftAlone(place.dataDir, () => startAt({ ...place, url: '' }), FOREIGN);
});

test('an empty database refuses the folder of another installation', { skip }, async (t) => {
  await using empty = await freshDatabase();
  const place: Place = { dataDir: getFolder(t), url: '' };
  const wrong = { ...place, url: empty.url };
  await useOnce(place);
  await isLeftAlone(place.dataDir, () => startAt(wrong), EMBEDDED);
  assert.deepEqual(await listTables(empty.url), [], 'it stays empty, so that the move can be made up for');
  await (await postgresStore(empty.url))[Symbol.asyncDispose]();
  await isLeftAlone(place.dataDir, () => startAt(wrong), EMBEDDED);

  await using database = await freshDatabase();
  const moved = { ...place, url: database.url };
  await migrateToPostgres(getEnv(moved));
  const mark = readFileSync(getMark(place.dataDir), 'utf8').trim();
  assert.deepEqual(
    await askDatabase(database.url, 'select mark from blob_folder'),
    [{ mark }],
    'the move took it along',
  );
  await isLeftAlone(place.dataDir, () => startAt(wrong), FOREIGN);
  await using another = await freshDatabase();
  await isLeftAlone(place.dataDir, () => startAt({ ...place, url: another.url }), FOREIGN);
  assert.deepEqual(await listTables(another.url), []);
  await checkChatContinues(moved);
});

test('an installation without a mark gets one and keeps its files', async (t) => {
  const place: Place = { dataDir: getFolder(t), url: '' };
  await useOnce(place);
  const database = new DatabaseSync(join(place.dataDir, 'runwire.db'));
  database.exec('delete from blob_folder');
  const unknown =
    /^The folder \S+ has a mark, [^\n]+ that this installation does not know; set RUNWIRE_DATA_DIR [^\n]+\.$/;
  await assert.rejects(startAt(place), { name: 'StartRefused', message: unknown });
  rmSync(getMark(place.dataDir));
  await checkChatContinues(place);
  const { mark } = database.prepare('select mark from blob_folder').get() ?? {};
  assert.equal(readFileSync(getMark(place.dataDir), 'utf8'), `${mark}\n`);
  database.close();
});

test('a restore refuses the folder of another installation and marks its own', { skip }, async (t) => {
  await using database = await freshDatabase();
  await using empty = await freshDatabase();
  const used = { dataDir: getFolder(t), url: database.url };
  await useOnce(used);
  const from = join(getFolder(t), 'backup');
  await backup(getEnv(used), from);
  for (const url of ['', empty.url]) {
    await isLeftAlone(used.dataDir, () => restore(getEnv({ ...used, url }), from), FOREIGN);
    const place = { dataDir: getFolder(t), url };
    await restore(getEnv(place), from);
    assert.notEqual(readFileSync(getMark(place.dataDir), 'utf8'), readFileSync(getMark(used.dataDir), 'utf8'));
    assert.ok(!existsSync(join(place.dataDir, 'blobs/restoring')));
    await checkChatContinues(place);
  }
  const embedded: Place = { dataDir: getFolder(t), url: '' };
  await useOnce(embedded);
  await using other = await freshDatabase();
  await isLeftAlone(embedded.dataDir, () => restore(getEnv({ ...embedded, url: other.url }), from), EMBEDDED);
});

test('an interrupted restore can be repeated; a server does not start there', async (t) => {
  const place: Place = { dataDir: getFolder(t), url: '' };
  const from = join(getFolder(t), 'backup');
  const source: Place = { dataDir: getFolder(t), url: '' };
  await useOnce(source, 2);
  {
    await using server = await startAt(source);
    await upload(server.api, 'of the backup');
  }
  await backup(getEnv(source), from);
  // The restore is killed after it copied the images and before its commit.
  await restore(getEnv(place), from);
  rmSync(join(place.dataDir, 'runwire.db'));
  writeFileSync(join(place.dataDir, 'blobs/restoring'), readFileSync(getMark(place.dataDir)));
  const drafts = ['runwire.db.0123456789ab.part', 'runwire.db.0123456789ab.part-journal'];
  for (const name of drafts) writeFileSync(join(place.dataDir, name), 'half');
  await assert.rejects(
    startAt(place),
    /^StartRefused: The folder \S+ holds blobs of a `runwire restore` that was interrupted; [^\n]+\.$/,
  );
  assert.match((await restore(getEnv(place), from)).text, /^Restored \d+ rows and 3 attachments and files/);
  for (const name of drafts) assert.ok(!existsSync(join(place.dataDir, name)), name);
  assert.equal(imagesIn(place.dataDir).length, 3);
  await checkChatContinues(place);
  await using server = await startAt(place);
  assert.equal(await (await download(server.api, '/app/mnt/u/a.txt')).text(), 'of the backup');
});
