import assert from 'node:assert/strict';
import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { CreateMultipartUploadCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { missingService } from '../../../../../test/support/services.ts';
import { mountStoreConformance } from '../../testing/mount-store-conformance.ts';
import { testS3Mount } from '../../testing/s3-bucket-of-test.ts';
import { s3Client, sharedS3, stopOwnS3 } from '../../testing/s3-gateway.ts';
import type { S3MountStore } from './s3-mount-store.ts';

const skip = (await missingService('s3')) ?? false;
after(stopOwnS3);

if (skip === false) {
  mountStoreConformance('s3', async () => {
    const mount = await testS3Mount();
    return { open: mount.open, cleanUp: async () => mount[Symbol.dispose]() };
  });
}

async function* bytesOf(text: string) {
  yield Buffer.from(text);
}

const put = (mount: S3MountStore, path: string) => mount.write('one', path, 'text/plain', bytesOf(path));

test('a folder stands before the names that begin with its own, where S3 lists it behind them', { skip }, async () => {
  using rig = await testS3Mount();
  const mount = await rig.open();
  const names = ['p', 'p b', 'p!', 'p-1', 'p-1.d', 'p-1.d.txt', 'p.txt', 'pq', 'é', 'é-1'];
  const folders = ['p', 'p-1', 'p-1.d', 'é'];
  await Promise.all(names.map((name) => put(mount, folders.includes(name) ? `${name}/x` : name)));
  for (const limit of [1, 2, 3, 4, 7, 100]) {
    const found: string[] = [];
    for (let page = await mount.list('one', '', null, limit); ; ) {
      assert.ok(page !== null && page.entries.length <= limit);
      found.push(...page.entries.map(({ path }) => path));
      if (!page.hasMore) break;
      page = await mount.list('one', '', found.at(-1) ?? null, limit);
    }
    assert.deepEqual(found, names, `${limit} at a time`);
  }
});

test('a name of which two forms made a file and a folder is listed once, and the folder when the file is gone', {
  skip,
}, async () => {
  using rig = await testS3Mount();
  const mount = await rig.open();
  await put(mount, 'a/b');
  const client = await s3Client(await sharedS3());
  const { bucket: Bucket } = rig.bucket.place;
  await client.send(new PutObjectCommand({ Bucket, Key: 'mark/mounts/one/a', Body: 'by a form' }));
  // As consoles make folders.
  await client.send(new PutObjectCommand({ Bucket, Key: 'mark/mounts/one/empty/', Body: new Uint8Array() }));
  const kinds = async () => (await mount.list('one', '', null, 10))?.entries.map(({ path, kind }) => [path, kind]);
  assert.deepEqual(await kinds(), [
    ['a', 'file'],
    ['empty', 'folder'],
  ]);
  assert.equal(await mount.delete('one', 'a'), true);
  assert.deepEqual(await kinds(), [
    ['a', 'folder'],
    ['empty', 'folder'],
  ]);
  assert.deepEqual(await mount.list('one', 'empty', null, 10), { entries: [], hasMore: false });
  const walked = await Array.fromAsync(mount.walk('one', ''));
  assert.deepEqual(
    walked.map(({ path }) => path),
    ['a/b'],
  );
  client.destroy();
});

test('a sweep takes old uploads on their way and unfinished ones in parts, and leaves young ones', {
  skip,
}, async () => {
  using rig = await testS3Mount();
  const mount = await rig.open();
  const client = await s3Client(await sharedS3());
  const { bucket: Bucket } = rig.bucket.place;
  for (const Key of ['mark/mounts/one/big', 'other/mounts/one/big']) {
    await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  }
  const spools = ['0', '1'].map((digit) => join(rig.folder, `${digit.repeat(24)}.spool`));
  for (const path of [...spools, join(rig.folder, 'notes.txt')]) writeFileSync(path, 'half');
  const longAgo = new Date(Date.now() - 3_600_000);
  utimesSync(spools[0] ?? '', longAgo, longAgo);
  assert.equal(await mount.sweep(1_800_000), 1, 'the old spool');
  assert.deepEqual(readdirSync(rig.folder), [`${'1'.repeat(24)}.spool`, 'notes.txt']);
  assert.equal(await mount.sweep(-1000), 2, 'the other, and the parts of this installation alone');
  assert.equal(await mount.sweep(-1000), 0);
  client.destroy();
});
