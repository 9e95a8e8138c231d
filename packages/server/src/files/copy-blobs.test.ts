import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DiskBlobStore, temporaryFolder } from '@runwire/test-kit';
import { StoreUnavailable } from '../domain/unavailable.ts';
import { newBlobKey, newFileBlobKey } from '../storage/blob-store.ts';
import { copyBlobs, type NamedBlob } from './copy-blobs.ts';

async function* inBatches(...batches: readonly (readonly NamedBlob[])[]) {
  yield* batches;
}

test('copies blobs and names those in use that are missing or damaged', async (t) => {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true }));
  const [from, to] = [await DiskBlobStore.open(join(folder, 'a')), await DiskBlobStore.open(join(folder, 'b'))];
  const bytes = Buffer.from('hello');
  const digest = { algorithm: 'md5', hex: hash('md5', bytes) } as const;
  const image: NamedBlob = { key: newBlobKey(hash('sha256', bytes)), inUse: true, digest: null };
  const files = Array.from({ length: 20 }, (): NamedBlob => ({ key: newFileBlobKey(), inUse: true, digest }));
  for (const { key } of [image, ...files]) await from.put(key, bytes);
  const damaged = { key: newBlobKey(hash('sha256', bytes)), inUse: true, digest: null };
  const changed = { key: newFileBlobKey(), inUse: true, digest };
  for (const { key } of [damaged, changed]) await from.put(key, Buffer.from('other'));
  const lost = { key: newFileBlobKey(), inUse: true, digest };
  const unused = { key: newFileBlobKey(), inUse: false, digest };
  const copying = copyBlobs(inBatches(files, [image, damaged, changed, lost, unused]), from, to);
  const copied = (await Array.fromAsync(copying.copied)).flat();
  assert.deepEqual(
    copied,
    [...files, image].map(({ key }) => ({ key, sha256: hash('sha256', bytes) })),
  );
  assert.deepEqual([copying.count(), copying.bytes()], [21, 105]);
  assert.deepEqual([...copying.missing()].sort(), [damaged, changed, lost].map(({ key }) => key).sort());
  const there = (await Array.fromAsync(to.list())).map(({ key }) => key);
  assert.deepEqual(there.sort(), copied.map(({ key }) => key).sort(), 'no wrong bytes are in the copy');
  // A store that does not answer has lost nothing.
  const open = () => Promise.reject(new StoreUnavailable('away'));
  await assert.rejects(Array.fromAsync(copyBlobs(inBatches(files), { open }, to).copied), StoreUnavailable);
});
