import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import {
  type BlobStore,
  type ByteRange,
  type ListedBlob,
  newBlobKey,
  newFileBlobKey,
} from '@runwire/server/src/storage/blob-store.ts';
import { claimsOn, type FilesHarness, type RunClaim } from './run-claims.ts';

const getKey = (bytes: Uint8Array) => newBlobKey(hash('sha256', bytes));

/** Yields the bytes in pieces of this size; throws after them if there is an error. */
async function* pieces(bytes: Uint8Array, size = 50_000, error: Error | null = null): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
  if (error !== null) throw error;
}

/** Reads a blob, or a part of it; null if it does not exist. */
async function opened(blobs: BlobStore, key: string, range?: ByteRange): Promise<Buffer | null> {
  await using blob = await blobs.open(key, range);
  return blob === null ? null : Buffer.concat(await Array.fromAsync(blob.bytes));
}

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
      const key = getKey(bytes);
      await blobs.put(key, bytes);
      for (const store of [blobs, await again()]) {
        assert.ok(Buffer.from((await store.read(key)) ?? []).equals(bytes), String(size));
        assert.equal(await store.holds(key, bytes), true);
        assert.deepEqual([await store.has(key, size), await store.has(key, size + 1)], [true, false]);
      }
    }
  });

  blobTest('an unknown blob is null, and deleting it succeeds', async (blobs) => {
    const key = getKey(Buffer.from('never'));
    assert.deepEqual([await blobs.read(key), await blobs.holds(key, Buffer.from('never'))], [null, false]);
    assert.equal(await blobs.has(key, 5), false);
    await blobs.delete(key);
    assert.equal((await listed(blobs)).size, 0);
  });

  blobTest('the same bytes under two names are two blobs', async (blobs) => {
    const bytes = Buffer.from('twice');
    const [one, other] = [getKey(bytes), getKey(bytes)];
    assert.notEqual(one, other);
    await Promise.all([blobs.put(one, bytes), blobs.put(other, bytes)]);
    await blobs.delete(one);
    assert.equal(await blobs.read(one), null);
    assert.equal(Buffer.from((await blobs.read(other)) ?? []).toString(), 'twice');
    assert.deepEqual([...(await listed(blobs)).keys()], [other]);
  });

  blobTest('a second put replaces the blob, and concurrent puts leave it whole', async (blobs) => {
    const bytes = randomBytes(300_000);
    const key = getKey(bytes);
    await blobs.put(key, Buffer.from('damaged'));
    await Promise.all(Array.from({ length: 8 }, () => blobs.put(key, bytes)));
    assert.ok(Buffer.from((await blobs.read(key)) ?? []).equals(bytes));
    assert.equal((await listed(blobs)).size, 1);
  });

  blobTest(
    'a stream of unknown length is stored with its size and MD5, under keys of both forms',
    async (blobs, again) => {
      for (const size of [0, 1, 50_000, 7 * 1024 * 1024 + 3]) {
        const bytes = randomBytes(size);
        for (const key of [newFileBlobKey(), getKey(bytes)]) {
          assert.deepEqual(await blobs.write(key, pieces(bytes)), { size, md5: hash('md5', bytes) });
          const store = await again();
          assert.ok((await opened(store, key))?.equals(bytes), String(size));
          assert.equal(await store.has(key, size), true);
          assert.equal((await listed(store)).has(key), true);
        }
      }
    },
  );

  blobTest('a stream that fails stores nothing, and leaves an existing blob as it is', async (blobs) => {
    const [key, old, error] = [newFileBlobKey(), newFileBlobKey(), new Error('cut')];
    await blobs.write(old, pieces(Buffer.from('old')));
    for (const one of [key, old]) {
      await assert.rejects(blobs.write(one, pieces(randomBytes(200_000), 50_000, error)), error);
    }
    assert.equal(await blobs.open(key), null);
    assert.equal(String(await opened(blobs, old)), 'old');
    assert.deepEqual([...(await listed(blobs)).keys()], [old]);
    await blobs.write(key, pieces(Buffer.from('new')));
    assert.equal(String(await opened(blobs, key)), 'new');
  });

  blobTest('opens a part of a blob; a range after the end has no bytes', async (blobs) => {
    const key = newFileBlobKey();
    const bytes = randomBytes(1_000_000);
    await blobs.write(key, pieces(bytes));
    const ranges = [
      [0, 0],
      [5, 699_999],
      [999_999, 999_999],
      [300_000, Number.MAX_SAFE_INTEGER],
      [1_000_000, 1_000_005],
    ];
    for (const [first = 0, last = 0] of ranges) {
      const part = await opened(blobs, key, { first, last });
      assert.ok(part?.equals(bytes.subarray(first, last + 1)), `${first} to ${last}`);
    }
    await using blob = await blobs.open(key, { first: 5, last: 9 });
    assert.equal(blob?.size, bytes.length);
    assert.equal(await blobs.open(newFileBlobKey(), { first: 0, last: 1 }), null);
  });

  blobTest('a reader that stops early, or never begins, leaves nothing open', async (blobs) => {
    const key = newFileBlobKey();
    const bytes = randomBytes(3_000_000);
    await blobs.write(key, pieces(bytes));
    for (let reader = 0; reader < 20; reader += 1) {
      await using blob = await blobs.open(key);
      if (reader % 2 === 0) for await (const piece of blob?.bytes ?? []) if (piece.length > 0) break;
    }
    assert.ok((await opened(blobs, key))?.equals(bytes));
  });

  blobTest('holds is true for exactly the bytes that were put', async (blobs) => {
    const bytes = randomBytes(3 * 1024 * 1024 + 5);
    const key = getKey(bytes);
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
        const key = getKey(bytes);
        await blobs.put(key, bytes);
        return key;
      }),
    );
    const all = await listed(await again());
    assert.deepEqual([...all.keys()].sort(), [...keys].sort());
    // A file system's clock may lag behind by its own tick.
    for (const putAt of all.values()) assert.ok(putAt >= began - 5000 && putAt <= Date.now() + 5000, String(putAt));
    const [gone = '', ...left] = keys;
    await blobs.delete(gone);
    assert.deepEqual([...(await listed(blobs)).keys()].sort(), [...left].sort());
  });
}
