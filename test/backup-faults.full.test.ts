import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { backup, migrateToPostgres, restore } from '@runwire/server';
import { CommitProxy, freshDatabase } from '@runwire/test-kit';
import { getFolder, runwire } from './support/cli-process.ts';
import { checkChatContinues, getEnv, getMark, imagesIn, type Place, startAt, useOnce } from './support/one-image.ts';
import { PgBouncer } from './support/pgbouncer.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;
const noBouncer = (await missingService('pgbouncer')) ?? skip;
const OTHER = /^The folder \S+\/blobs is not the one in which this installation keeps its files /;

test('a restore brings a lost folder of files back, with its mark', { skip }, async (t) => {
  await using database = await freshDatabase();
  const place = { dataDir: getFolder(t), url: database.url };
  await useOnce(place);
  const to = join(getFolder(t), 'backup');
  await backup(getEnv(place), to);
  rmSync(join(place.dataDir, 'blobs'), { recursive: true });
  await assert.rejects(startAt(place), { message: OTHER });
  rmSync(join(place.dataDir, 'blobs'), { recursive: true });
  cpSync(join(to, 'blobs'), join(place.dataDir, 'blobs'), { recursive: true });
  await checkChatContinues(place);
  assert.equal(imagesIn(place.dataDir).length, 1);
});

test('a backup of an installation with lost images names them', { skip }, async (t) => {
  await using database = await freshDatabase();
  const place = { dataDir: getFolder(t), url: database.url };
  await useOnce(place, 2);
  const folder = getFolder(t);
  const [kept = '', lost = ''] = imagesIn(place.dataDir);
  const wrong = { ...place, dataDir: getFolder(t) };
  mkdirSync(join(wrong.dataDir, 'blobs'));
  cpSync(join(kept, '..'), join(wrong.dataDir, 'blobs', basename(join(kept, '..'))), { recursive: true });
  await assert.rejects(backup(getEnv(wrong), join(folder, 'wrong')), { message: OTHER });
  assert.ok(!existsSync(join(folder, 'wrong')));

  rmSync(lost);
  const one = await runwire(['backup', '--to', join(folder, 'one')], { env: getEnv(place) });
  assert.equal(one.code, 3, one.stderr);
  assert.match(one.stdout, /^The backup lacks the attachments and files that are missing or damaged here \(1\)\. /m);
  assert.ok(one.stdout.includes(`\n  ${basename(lost)}\n`));
  rmSync(kept);
  const { text: said, isWhole } = await backup(getEnv(place), join(folder, 'none'));
  assert.match(said, /^Backed up \d+ rows and 0 attachments and files/);
  assert.equal(isWhole, false);
  const named = readFileSync(join(folder, 'none/missing-blobs.jsonl'), 'utf8').trim().split('\n');
  assert.deepEqual(named.map((line) => JSON.parse(line)).sort(), [basename(kept), basename(lost)].sort());

  const restored: Place = { dataDir: getFolder(t), url: '' };
  assert.match(
    (await restore(getEnv(restored), join(folder, 'one'))).text,
    /^Restored \d+ rows and 1 attachments and files/,
  );
  assert.deepEqual(
    imagesIn(restored.dataDir).map((path) => basename(path)),
    [basename(kept)],
  );
});

test('a restore with an unanswered commit reports it; the next one finds it done', { skip }, async (t) => {
  const source: Place = { dataDir: getFolder(t), url: '' };
  await useOnce(source);
  const from = join(getFolder(t), 'backup');
  await backup(getEnv(source), from);
  await using database = await freshDatabase();
  const { port } = new URL(database.url);
  await using proxy = await CommitProxy.start(Number(port));
  const place = { dataDir: getFolder(t), url: database.url.replace(`:${port}`, `:${proxy.port}`) };
  proxy.swallow(1, 'insert into "blob_folder"', false);
  await assert.rejects(restore(getEnv(place), from), {
    name: 'SettingRefused',
    message: /^The end of the restore was not confirmed \([^\n]+\); run `runwire restore` again\.$/,
  });
  assert.equal(proxy.swallowed, 1);
  assert.match(
    (await restore(getEnv(place), from)).text,
    /^An earlier restore had copied everything to PostgreSQL at /,
  );
  await assert.rejects(restore(getEnv(place), from), /An installation already exists in the database \S+;/);
  assert.equal(readFileSync(getMark(place.dataDir), 'utf8').length, 33);
  await checkChatContinues(place);
});

test('a restore reports if RUNWIRE_SECRET makes all keys of the backup void', async (t) => {
  const source: Place = { dataDir: getFolder(t), url: '' };
  await (await startAt(source))[Symbol.asyncDispose]();
  const from = join(getFolder(t), 'backup');
  await backup(getEnv(source), from);
  const same = readFileSync(join(source.dataDir, 'secret'), 'utf8').trim();
  const VOID = /^RUNWIRE_SECRET is not the secret of the backup: no key of the backup is valid /m;
  const said = async (secret: string) =>
    (await restore({ ...getEnv({ dataDir: getFolder(t), url: '' }), RUNWIRE_SECRET: secret }, from)).text;
  assert.match(await said('x'.repeat(40)), VOID);
  assert.doesNotMatch(await said(same), VOID);
  assert.doesNotMatch(await said(''), VOID);
});

test('backup, restore and move work through PgBouncer in transaction mode', { skip: noBouncer }, async (t) => {
  await using database = await freshDatabase();
  await using second = await freshDatabase();
  const { port } = new URL(database.url);
  await using bouncer = await PgBouncer.start(Number(port));
  const through = ({ url }: { url: string }) => `${url.replace(`:${port}/`, `:${bouncer.port}/`)}?pgbouncer=true`;
  const embedded: Place = { dataDir: getFolder(t), url: '' };
  await useOnce(embedded);
  const moved = { ...embedded, url: through(database) };
  assert.match(await migrateToPostgres(getEnv(moved)), /^Copied \d+ tables /);
  await checkChatContinues(moved);
  const to = join(getFolder(t), 'backup');
  const { text: said } = await backup(getEnv(moved), to);
  assert.match(said, /^Backed up \d+ rows and 1 attachments and files/);
  const restored = { dataDir: getFolder(t), url: through(second) };
  assert.match((await restore(getEnv(restored), to)).text, /^Restored \d+ rows and 1 attachments and files/);
  await checkChatContinues(restored);
});
