import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  askDatabase,
  freshDatabase,
  imageAttachment,
  makePng,
  postgresStore,
  startTestServer,
} from '@runwire/test-kit';
import { getFolder, runwire } from './support/cli-process.ts';
import { getMark } from './support/one-image.ts';
import { messagesFrame } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;
const ANOTHER =
  /^The folder \S+\/blobs is not the one in which this installation keeps its files .* RUNWIRE_DATA_DIR [^\n]+\.$/;

test('a server with a folder that its database does not know does not start', { skip }, async (t) => {
  await using database = await freshDatabase();
  const env = { DATABASE_URL: database.url };
  const [shared, own] = [getFolder(t), getFolder(t)];
  await using first = await startTestServer({ env, dataDir: shared });
  await using second = await startTestServer({ env, dataDir: shared });
  const reader = await first.api.complete({ attachments: [imageAttachment(makePng(100))] });
  await reader.whole();
  const again = await second.api.complete({ chatId: reader.headers['x-chat-id'] });
  await again.whole();
  assert.equal(messagesFrame(again).status, 'completed');

  await assert.rejects(startTestServer({ env, dataDir: own }), { name: 'StartRefused', message: ANOTHER });
  assert.equal(existsSync(getMark(own)), false, 'a folder that is refused is not marked');
  const refused = await runwire(['serve'], { env: { ...env, RUNWIRE_DATA_DIR: own } });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr.trim(), ANOTHER, 'one sentence');

  // This folder belongs to another installation.
  await using elsewhere = await freshDatabase();
  await using other = await startTestServer({ env: { DATABASE_URL: elsewhere.url }, dataDir: own });
  assert.ok(other.url);
  await assert.rejects(startTestServer({ env, dataDir: own }), { message: ANOTHER });
  assert.notEqual(readFileSync(getMark(own), 'utf8'), readFileSync(getMark(shared), 'utf8'));
});

test('one of two concurrent first starts on different folders succeeds', { skip }, async (t) => {
  await using database = await freshDatabase();
  const folders = Array.from({ length: 4 }, () => getFolder(t));
  const starts = await Promise.allSettled(
    folders.map((dataDir) => startTestServer({ env: { DATABASE_URL: database.url }, dataDir })),
  );
  const up = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  try {
    assert.equal(up.length, 1);
    const marked = folders.filter((folder) => existsSync(getMark(folder)));
    assert.equal(marked.length, 1, 'and only its folder is marked');
    for (const start of starts) {
      if (start.status === 'rejected') assert.match(String(start.reason), /is not the one in which this installation/);
    }
  } finally {
    for (const server of up) await server[Symbol.asyncDispose]();
  }
});

test('concurrent first starts on one folder all succeed', { skip }, async (t) => {
  await using database = await freshDatabase();
  const dataDir = getFolder(t);
  const env = { DATABASE_URL: database.url };
  const servers = await Promise.all(Array.from({ length: 4 }, () => startTestServer({ env, dataDir })));
  for (const server of servers) await server[Symbol.asyncDispose]();
  assert.match(readFileSync(getMark(dataDir), 'utf8'), /^[0-9a-f]{32}\n$/);
});

test('completes a first start that was cut off; refuses a damaged mark', { skip }, async (t) => {
  await using database = await freshDatabase();
  const dataDir = getFolder(t);
  const env = { DATABASE_URL: database.url };
  const mark = 'ab'.repeat(16);
  mkdirSync(join(dataDir, 'blobs'), { recursive: true });
  writeFileSync(getMark(dataDir), `${mark}\n`);
  await (await postgresStore(database.url))[Symbol.asyncDispose]();
  const unknown = { name: 'StartRefused', message: /^The folder \S+\/blobs holds files of another installation; / };
  await assert.rejects(startTestServer({ env, dataDir }), unknown);
  await askDatabase(database.url, `insert into blob_folder (id, mark) values (77, '${mark}')`);
  {
    await using server = await startTestServer({ env, dataDir, limits: { unusedBlobMs: 0 } });
    await server.server.probes.sweepBlobs();
  }
  assert.equal(readFileSync(getMark(dataDir), 'utf8'), `${mark}\n`);
  assert.deepEqual(await askDatabase(database.url, 'select id, mark from blob_folder'), [{ id: 1, mark }]);
  writeFileSync(getMark(dataDir), 'half');
  await assert.rejects(startTestServer({ env, dataDir }), /installation is damaged; restore it/);
});

test('a folder that cannot be written to is refused', { skip }, async (t) => {
  await using database = await freshDatabase();
  const dataDir = getFolder(t);
  mkdirSync(join(dataDir, 'blobs'), { recursive: true });
  // No user can write there, not even root.
  symlinkSync('/sys/kernel', join(dataDir, 'blobs', 'drafts'));
  await assert.rejects(startTestServer({ env: { DATABASE_URL: database.url }, dataDir }), {
    name: 'StartRefused',
    message:
      /^The folder \S+\/blobs, in which this installation keeps its files, cannot be used \(.*\); fix it, or set RUNWIRE_DATA_DIR to another folder\.$/,
  });
});

test('on the embedded store the folder is marked too', async (t) => {
  const dataDir = getFolder(t);
  const start = () => startTestServer({ env: { DATABASE_URL: '' }, dataDir });
  await (await start())[Symbol.asyncDispose]();
  const mark = readFileSync(getMark(dataDir), 'utf8');
  assert.match(mark, /^[0-9a-f]{32}\n$/);
  rmSync(join(dataDir, 'blobs'), { recursive: true });
  await assert.rejects(start(), { message: ANOTHER });
  await assert.rejects(start(), new RegExp(`write the line ${mark.trim()} into that file`));
  writeFileSync(getMark(dataDir), mark);
  await (await start())[Symbol.asyncDispose]();
});
