import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { type BlobStore, type ListedBlob, newBlobKey } from '@runwire/server/src/storage/blob-store.ts';
import { claimsOn, type FilesHarness, type RunClaim } from './run-claims.ts';

const keyOf = (bytes: Uint8Array) => newBlobKey(hash('sha256', bytes));

async function listed(blobs: BlobStore): Promise<Map<string, number>> {
  const all: ListedBlob[] = [];
  for await (const blob of blobs.list()) all.push(blob);
  assert.equal(new Set(all.map(({ key }) => key)).size, all.length, 'each once');
  return new Map(all.map(({ key, putAt }) => [key, putAt]));
}

/** What every blob store promises; each adapter runs it. */
export function blobStoreConformance(
  name: string,
  harness: () => Promise<FilesHarness<BlobStore>>,
  run: RunClaim = test,
): void {
  const blobTest = claimsOn(name, harness, run);

  blobTest('returns the bytes that were put, also after a restart', async (blobs, again) => {
    for (const size of [0, 1, 3, 65_536, 20 * 1024 * 1024]) {
      const bytes = randomBytes(size);
      const key = keyOf(bytes);
      await blobs.put(key, bytes);
      for (const store of [blobs, await again()]) {
        assert.ok(Buffer.from((await store.read(key)) ?? []).equals(bytes), String(size));
        assert.equal(await store.holds(key, bytes), true);
        assert.deepEqual([await store.has(key, size), await store.has(key, size + 1)], [true, false]);
      }
    }
  });

  blobTest('an unknown blob is null, and deleting it succeeds', async (blobs) => {
    const key = keyOf(Buffer.from('never'));
    assert.deepEqual([await blobs.read(key), await blobs.holds(key, Buffer.from('never'))], [null, false]);
    assert.equal(await blobs.has(key, 5), false);
    await blobs.delete(key);
    assert.equal((await listed(blobs)).size, 0);
  });

  blobTest('the same bytes under two names are two blobs', async (blobs) => {
    const bytes = Buffer.from('twice');
    const [one, other] = [keyOf(bytes), keyOf(bytes)];
    assert.notEqual(one, other);
    await Promise.all([blobs.put(one, bytes), blobs.put(other, bytes)]);
    await blobs.delete(one);
    assert.equal(await blobs.read(one), null);
    assert.equal(Buffer.from((await blobs.read(other)) ?? []).toString(), 'twice');
    assert.deepEqual([...(await listed(blobs)).keys()], [other]);
  });

  blobTest('a second put replaces the blob, and concurrent puts leave it whole', async (blobs) => {
    const bytes = randomBytes(300_000);
    const key = keyOf(bytes);
    await blobs.put(key, Buffer.from('damaged'));
    await Promise.all(Array.from({ length: 8 }, () => blobs.put(key, bytes)));
    assert.ok(Buffer.from((await blobs.read(key)) ?? []).equals(bytes));
    assert.equal((await listed(blobs)).size, 1);
  });

  blobTest('holds is true for exactly the bytes that were put', async (blobs) => {
    const bytes = randomBytes(3 * 1024 * 1024 + 5);
    const key = keyOf(bytes);
    for (const place of [0, 1024 * 1024, bytes.length - 1]) {
      const other = Buffer.from(bytes);
      other.writeUInt8(other.readUInt8(place) ^ 1, place);
      await blobs.put(key, other);
      assert.deepEqual([await blobs.holds(key, bytes), await blobs.holds(key, other)], [false, true], String(place));
    }
    await blobs.put(key, bytes.subarray(1));
    assert.equal(await blobs.holds(key, bytes), false);
    assert.equal(await blobs.holds(key, bytes.subarray(0, -1)), false);
    await blobs.put(key, bytes);
    assert.equal(await blobs.holds(key, bytes), true);
  });

  blobTest('lists all blobs with the time of their put, without deleted ones', async (blobs, again) => {
    const began = Date.now();
    const keys = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const bytes = Buffer.from(`blob ${index}`);
        const key = keyOf(bytes);
        await blobs.put(key, bytes);
        return key;
      }),
    );
    const all = await listed(await again());
    assert.deepEqual([...all.keys()].sort(), [...keys].sort());
    // The clock of a file system may lag behind by its own tick.
    for (const putAt of all.values()) assert.ok(putAt >= began - 5000 && putAt <= Date.now() + 5000, String(putAt));
    const [gone = '', ...left] = keys;
    await blobs.delete(gone);
    assert.deepEqual([...(await listed(blobs)).keys()].sort(), [...left].sort());
  });
}
