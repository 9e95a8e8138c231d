import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freshDatabase, imageAttachment, pngOf, startTestServer } from '@runwire/server/testing';
import { CliServer, folderOf, runwire } from './support/cli-process.ts';
import { messagesFrame } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;
const markOf = (dataDir: string) => join(dataDir, 'blobs', 'installation');
const ANOTHER =
  /^The folder \S+\/blobs is not the one in which the other servers of this database keep files .* RUNWIRE_DATA_DIR [^\n]+\.$/;

test('servers of one database share one folder for files: one that has another does not start', { skip }, async (t) => {
  await using database = await freshDatabase();
  const env = { DATABASE_URL: database.url };
  const [shared, own] = [folderOf(t), folderOf(t)];
  await using first = await startTestServer({ env, dataDir: shared });
  await using second = await startTestServer({ env, dataDir: shared });
  const reader = await first.api.complete({ attachments: [imageAttachment(pngOf(100))] });
  await reader.whole();
  const again = await second.api.complete({ chatId: reader.headers['x-chat-id'] });
  await again.whole();
  assert.equal(messagesFrame(again).status, 'completed');

  await assert.rejects(startTestServer({ env, dataDir: own }), { name: 'StartRefused', message: ANOTHER });
  assert.equal(existsSync(markOf(own)), false, 'a folder that is refused is not marked');
  const refused = await runwire(['serve'], { env: { ...env, RUNWIRE_DATA_DIR: own } });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr.trim(), ANOTHER, 'one sentence');

  // The folder of another installation.
  await using elsewhere = await freshDatabase();
  await using other = await startTestServer({ env: { DATABASE_URL: elsewhere.url }, dataDir: own });
  assert.ok(other.url);
  await assert.rejects(startTestServer({ env, dataDir: own }), { message: ANOTHER });
  assert.notEqual(readFileSync(markOf(own), 'utf8'), readFileSync(markOf(shared), 'utf8'));
});

test('of servers that first start at the same moment on different folders exactly one comes up', {
  skip,
}, async (t) => {
  await using database = await freshDatabase();
  const folders = Array.from({ length: 4 }, () => folderOf(t));
  const starts = await Promise.allSettled(
    folders.map((RUNWIRE_DATA_DIR) => CliServer.start({ env: { DATABASE_URL: database.url, RUNWIRE_DATA_DIR } })),
  );
  const up = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  try {
    assert.equal(up.length, 1);
    const marked = folders.filter((folder) => existsSync(markOf(folder)));
    assert.equal(marked.length, 1, 'and only its folder is marked');
    for (const start of starts) {
      if (start.status === 'rejected') assert.match(String(start.reason), /is not the one in which the other servers/);
    }
  } finally {
    for (const server of up) await server[Symbol.asyncDispose]();
  }
});

test('of servers that first start at the same moment on one folder all come up', { skip }, async (t) => {
  await using database = await freshDatabase();
  const dataDir = folderOf(t);
  const env = { DATABASE_URL: database.url };
  const servers = await Promise.all(Array.from({ length: 4 }, () => startTestServer({ env, dataDir })));
  for (const server of servers) await server[Symbol.asyncDispose]();
  assert.match(readFileSync(markOf(dataDir), 'utf8'), /^[0-9a-f]{32}\n$/);
});

test('a mark that no database knows is taken, a damaged one refused, and no sweep touches it', { skip }, async (t) => {
  await using database = await freshDatabase();
  const dataDir = folderOf(t);
  const env = { DATABASE_URL: database.url };
  const mark = 'ab'.repeat(16);
  mkdirSync(join(dataDir, 'blobs'), { recursive: true });
  writeFileSync(markOf(dataDir), `${mark}\n`);
  {
    await using server = await startTestServer({ env, dataDir, limits: { unusedBlobMs: 0 } });
    await server.server.probes.sweepBlobs();
  }
  assert.equal(readFileSync(markOf(dataDir), 'utf8'), `${mark}\n`);
  writeFileSync(markOf(dataDir), 'half');
  await assert.rejects(startTestServer({ env, dataDir }), /installation is damaged; restore it/);
});

test('a folder that cannot be written to is refused', { skip }, async (t) => {
  await using database = await freshDatabase();
  const dataDir = folderOf(t);
  mkdirSync(join(dataDir, 'blobs'), { recursive: true });
  // Nobody may write there, root included.
  symlinkSync('/sys/kernel', join(dataDir, 'blobs', 'drafts'));
  await assert.rejects(startTestServer({ env: { DATABASE_URL: database.url }, dataDir }), {
    name: 'StartRefused',
    message:
      /^The folder \S+\/blobs, in which all servers of this database keep files, cannot be used \(.*\); mend that, or set RUNWIRE_DATA_DIR\.$/,
  });
});

test('on the embedded store the folder has no mark: its lock says whose it is', async (t) => {
  const dataDir = folderOf(t);
  await using server = await startTestServer({ env: { DATABASE_URL: '' }, dataDir });
  assert.ok(server.url);
  assert.equal(existsSync(markOf(dataDir)), false);
});
