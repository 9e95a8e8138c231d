import assert from 'node:assert/strict';
import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { CreateMultipartUploadCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { mountStoreConformance } from '@runwire/test-kit/mount-store-conformance.ts';
import { testS3Files } from '@runwire/test-kit/s3-files.ts';
import { s3Client, sharedS3, stopOwnS3 } from '@runwire/test-kit/s3-gateway.ts';
import { missingService } from '../../../../../test/support/services.ts';
import type { S3MountStore } from './s3-mount-store.ts';

const skip = (await missingService('s3')) ?? false;
after(stopOwnS3);

if (skip === false) {
  mountStoreConformance('s3', async () => {
    const files = await testS3Files();
    return { open: files.mount, cleanUp: async () => files[Symbol.dispose]() };
  });
}

async function* bytesOf(text: string) {
  yield Buffer.from(text);
}

const put = (mount: S3MountStore, path: string) => mount.write('one', path, 'text/plain', bytesOf(path));

test('a name of which two forms made a file and a folder is listed once, and the folder when the file is gone', {
  skip,
}, async () => {
  using rig = await testS3Files();
  const mount = await rig.mount();
  await put(mount, 'a/b');
  const client = await s3Client(await sharedS3());
  const { bucket: Bucket } = rig.bucket.place;
  await client.send(new PutObjectCommand({ Bucket, Key: `${rig.mark}/mounts/one/a`, Body: 'by a form' }));
  // As consoles make folders.
  await client.send(new PutObjectCommand({ Bucket, Key: `${rig.mark}/mounts/one/empty/`, Body: new Uint8Array() }));
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

test('objects whose keys no path can name are not listed, and go with their folder', { skip }, async () => {
  using rig = await testS3Files();
  const mount = await rig.mount();
  await put(mount, 'f/a');
  const client = await s3Client(await sharedS3());
  const { bucket: Bucket } = rig.bucket.place;
  const odd = ['back\\slash', 'line\nbreak', ' ', '../up', './here', '/twice', 'x'.repeat(300)];
  for (const name of odd) {
    await client.send(new PutObjectCommand({ Bucket, Key: `${rig.mark}/mounts/one/f/${name}`, Body: 'odd' }));
  }
  client.destroy();
  assert.deepEqual((await mount.list('one', 'f', null, 1))?.hasMore, false);
  assert.deepEqual(
    (await mount.list('one', 'f', null, 100))?.entries.map(({ path }) => path),
    ['f/a'],
  );
  assert.deepEqual(
    (await Array.fromAsync(mount.walk('one', ''))).map(({ path }) => path),
    ['f/a'],
  );
  assert.equal(await mount.deleteFolder('one', 'f'), 1 + odd.length);
});

test('a page whose files are deleted while it is made is filled with those behind them', { skip }, async (t) => {
  using rig = await testS3Files();
  const mount = await rig.mount();
  for (const name of ['a', 'b', 'c', 'd', 'e']) await put(mount, name);
  const { bucket } = rig;
  const list = bucket.list.bind(bucket);
  let isFirst = true;
  t.mock.method(bucket, 'list', async (query: Parameters<typeof list>[0]) => {
    const page = await list(query);
    if (isFirst) for (const name of ['a', 'b']) await bucket.delete(`${rig.mark}/mounts/one/${name}`);
    isFirst = false;
    return page;
  });
  const page = await mount.list('one', '', null, 2);
  assert.deepEqual([page?.entries.map(({ path }) => path), page?.hasMore], [['c', 'd'], true]);
});

test('a sweep takes old uploads on their way and unfinished ones in parts, and leaves young ones', {
  skip,
}, async () => {
  using rig = await testS3Files();
  const mount = await rig.mount();
  const client = await s3Client(await sharedS3());
  const { bucket: Bucket } = rig.bucket.place;
  for (const Key of [`${rig.mark}/mounts/one/big`, `other${rig.mark}/mounts/one/big`]) {
    await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  }
  const spools = ['0', '1'].map((digit) => join(rig.spools, `${digit.repeat(24)}.spool`));
  for (const path of [...spools, join(rig.spools, 'notes.txt')]) writeFileSync(path, 'half');
  const longAgo = new Date(Date.now() - 3_600_000);
  utimesSync(spools[0] ?? '', longAgo, longAgo);
  assert.equal(await mount.sweep(1_800_000), 1, 'the old spool');
  assert.deepEqual(readdirSync(rig.spools), [`${'1'.repeat(24)}.spool`, 'notes.txt']);
  assert.equal(await mount.sweep(-1000), 2, 'the other, and the parts of this installation alone');
  assert.equal(await mount.sweep(-1000), 0);
  client.destroy();
});
