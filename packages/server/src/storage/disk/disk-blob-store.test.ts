import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '@runwire/server/testing';
import { blobStoreConformance } from '@runwire/test-kit/blob-store-conformance.ts';
import { watchSyncs } from '@runwire/test-kit/watch-syncs.ts';
import { StartRefused } from '../../domain/start-refused.ts';
import { newBlobKey } from '../blob-store.ts';
import { DiskBlobStore } from './disk-blob-store.ts';

blobStoreConformance('disk', async () => {
  const folder = temporaryFolder();
  return {
    open: () => DiskBlobStore.open(join(folder, 'blobs')),
    cleanUp: async () => rmSync(folder, { recursive: true }),
  };
});

async function setUp(t: { after(fn: () => void): void }) {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true }));
  return { folder, blobs: await DiskBlobStore.open(folder) };
}

test('stores a file under its hash, readable by its owner only, without a draft', async (t) => {
  const { folder, blobs } = await setUp(t);
  const bytes = Buffer.from('hello');
  const key = newBlobKey(hash('sha256', bytes));
  await blobs.put(key, bytes);
  const path = join(folder, hash('sha256', bytes).slice(0, 2), key);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(folder, 'drafts')), []);
});

test('deletes what a put that was cut left, and no other draft', async (t) => {
  const { folder, blobs } = await setUp(t);
  const [cut, other] = [newBlobKey(hash('sha256', 'cut')), newBlobKey(hash('sha256', 'other'))];
  for (const key of [cut, other]) writeFileSync(join(folder, 'drafts', `${key}.0123456789ab`), 'half');
  await blobs.put(cut, Buffer.from('cut'));
  await blobs.deleteUnfinished(cut);
  assert.equal(await blobs.read(cut), null);
  assert.deepEqual(readdirSync(join(folder, 'drafts')), [`${other}.0123456789ab`]);
});

const needsProc = { skip: existsSync('/proc/self/fd') ? false : 'there is no /proc' };

test('syncs the name of the folder for files', needsProc, async (t) => {
  const folder = realpathSync(temporaryFolder());
  t.after(() => rmSync(folder, { recursive: true }));
  const synced = await watchSyncs(t, () => undefined);
  await DiskBlobStore.open(join(folder, 'blobs'));
  assert.deepEqual(synced, [folder]);
});

test('a put into a new folder waits until the name of the folder is durable', needsProc, async (t) => {
  const folder = realpathSync(temporaryFolder());
  t.after(() => rmSync(folder, { recursive: true }));
  const blobs = await DiskBlobStore.open(join(folder, 'blobs'));
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const synced = await watchSyncs(t, (path) => {
    if (path !== join(folder, 'blobs')) return undefined;
    reached.resolve();
    return gate.promise;
  });
  const bytes = Buffer.from('hello');
  const [first, second] = [newBlobKey(hash('sha256', bytes)), newBlobKey(hash('sha256', bytes))];
  const shard = join(folder, 'blobs', first.slice(0, 2));
  const puts = [blobs.put(first, bytes)];
  await reached.promise;
  let isDone = false;
  const other = blobs.put(second, bytes).then(() => {
    isDone = true;
  });
  await Promise.race([other, sleep(500)]);
  assert.equal(isDone, false);
  gate.resolve();
  await Promise.all([...puts, other]);
  assert.ok(synced.indexOf(join(folder, 'blobs')) < synced.indexOf(shard));
  const before = synced.length;
  await blobs.put(newBlobKey(hash('sha256', bytes)), bytes);
  assert.equal(synced.slice(before).includes(join(folder, 'blobs')), false, 'once is enough');
});

test('refuses the start in one sentence if the folder cannot be made', async (t) => {
  const { folder } = await setUp(t);
  writeFileSync(join(folder, 'file'), '');
  await assert.rejects(DiskBlobStore.open(join(folder, 'file')), (error) => {
    assert.ok(error instanceof StartRefused);
    assert.match(error.message, /^The folder for files cannot be created \(.*\); fix that in the data folder\.$/);
    return true;
  });
});

test('a put that fails leaves neither a blob nor a draft', async (t) => {
  const { folder, blobs } = await setUp(t);
  const bytes = Buffer.from('hello');
  const key = newBlobKey(hash('sha256', bytes));
  // A file has the folder's name.
  writeFileSync(join(folder, key.slice(0, 2)), '');
  await assert.rejects(blobs.put(key, bytes));
  assert.deepEqual(readdirSync(join(folder, 'drafts')), []);
});

test('the listing deletes old drafts of dead processes and keeps recent ones', async (t) => {
  const { folder, blobs } = await setUp(t);
  const [old, young] = ['old', 'young'].map((name) => join(folder, 'drafts', name)) as [string, string];
  for (const path of [old, young]) writeFileSync(path, 'half');
  const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000);
  utimesSync(old, twoDaysAgo, twoDaysAgo);
  for await (const _ of blobs.list());
  assert.deepEqual([existsSync(old), existsSync(young)], [false, true]);
});

test('an invalid key never becomes a path, and foreign files in the folder stay', async (t) => {
  const { folder, blobs } = await setUp(t);
  for (const key of [
    '../secret',
    'a/b',
    '',
    `${'a'.repeat(64)}-${'g'.repeat(16)}`,
    `${'A'.repeat(64)}-${'0'.repeat(16)}`,
  ]) {
    await assert.rejects(blobs.read(key), /is not the key of a blob/);
    await assert.rejects(blobs.put(key, Buffer.from('x')), /is not the key of a blob/);
    await assert.rejects(blobs.delete(key), /is not the key of a blob/);
  }
  mkdirSync(join(folder, 'aa'));
  writeFileSync(join(folder, 'aa', 'notes.txt'), 'mine');
  for await (const blob of blobs.list()) assert.fail(`listed ${blob.key}`);
});
