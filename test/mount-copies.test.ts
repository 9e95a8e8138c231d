import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { filesOf, type MountStore, openTestMount, putFile, StoreUnavailable } from '@runwire/test-kit';
import {
  type CopiedMount,
  copyMountIn,
  copyMountOut,
  type MountLine,
} from '../packages/server/src/files/copy-mount.ts';
import { BackupBytes } from '../packages/server/src/store/transfer/backup-bytes.ts';
import { folderOf } from './support/cli-process.ts';

async function* batches<T>(...all: readonly (readonly T[])[]): AsyncGenerator<readonly T[]> {
  yield* all;
}

async function linesOf(copied: CopiedMount): Promise<MountLine[]> {
  const lines: MountLine[] = [];
  for await (const batch of copied.lines) lines.push(...batch);
  return lines;
}

async function setUp(t: TestContext) {
  const dataDir = folderOf(t);
  const mount = await openTestMount(dataDir);
  const kept = new BackupBytes(join(folderOf(t), 'mount'));
  return { mount, kept, placeOf: (path: string) => join(dataDir, 'mounts/one/files', path) };
}

/** The store, and what happens to a file right after it was opened, once for each time given. */
function meanwhile(mount: MountStore, happens: readonly (() => unknown)[]): MountStore {
  const next = [...happens];
  return new Proxy(mount, {
    get(target, key) {
      const value = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (key !== 'open') return value.bind(target);
      return async (...args: Parameters<MountStore['open']>) => {
        const opened = await target.open(...args);
        try {
          await next.shift()?.();
        } catch (error) {
          await opened?.[Symbol.asyncDispose]();
          throw error;
        }
        return opened;
      };
    },
  });
}

test('files go out and in again with their bytes and types, more of them than are copied at once', async (t) => {
  const { mount, kept } = await setUp(t);
  for (let n = 0; n < 20; n += 1) await putFile(mount, n % 2 ? 'one' : 'two', `f/${n}`, `number ${n % 5}`, 'text/x');
  await putFile(mount, 'one', 'empty', '');
  await putFile(mount, 'one', 'großes 𝄞/large', Buffer.alloc(3_000_000, 'x'), 'application/zip');
  await putFile(mount, 'three', 'not-asked-for', 'x');
  const copied = copyMountOut(batches(['one'], ['two', 'none']), mount, kept);
  const lines = await linesOf(copied);
  assert.equal(copied.count(), 22);
  assert.equal(
    copied.bytes(),
    lines.reduce((sum, { size }) => sum + size, 0),
  );
  assert.deepEqual([copied.missing(), copied.unsteady()], [[], []]);
  await kept.finish();
  const target = await openTestMount(folderOf(t));
  assert.deepEqual(await copyMountIn(batches(lines), kept, target), {
    count: 22,
    bytes: copied.bytes(),
    unplaced: [],
  });
  for (const integration of ['one', 'two', 'none']) {
    assert.deepEqual(await filesOf(target, integration), await filesOf(mount, integration));
  }
  assert.equal((await filesOf(target, 'three')).size, 0);
});

test('a file that is replaced while it is read is taken whole, and one that is deleted is not', async (t) => {
  const { mount, kept } = await setUp(t);
  await putFile(mount, 'one', 'a', 'first'.repeat(50_000));
  const replaced = meanwhile(mount, [() => putFile(mount, 'one', 'a', 'second', 'text/x')]);
  const copied = copyMountOut(batches(['one']), replaced, kept);
  const [line] = await linesOf(copied);
  assert.deepEqual([line?.size, line?.contentType, copied.unsteady()], [6, 'text/x', []]);
  const gone = copyMountOut(batches(['one']), meanwhile(mount, [() => mount.delete('one', 'a')]), kept);
  assert.deepEqual(await linesOf(gone), []);
  assert.deepEqual([gone.count(), gone.missing(), gone.unsteady()], [0, [], []]);
});

test('a file that changes in place whenever it is read is kept as it was read last, and named', async (t) => {
  const { mount, kept, placeOf } = await setUp(t);
  await putFile(mount, 'one', 'log', 'line\n');
  const append = () => appendFileSync(placeOf('log'), 'line\n');
  const twice = copyMountOut(batches(['one']), meanwhile(mount, [append, append]), kept);
  assert.deepEqual(
    (await linesOf(twice)).map(({ size }) => size),
    [15],
  );
  assert.deepEqual(twice.unsteady(), [], 'the third time it stood still');
  const always = copyMountOut(batches(['one']), meanwhile(mount, [append, append, append]), kept);
  const lines = await linesOf(always);
  assert.equal(lines.length, 1);
  assert.deepEqual(
    always.unsteady().map(({ integration, path }) => [integration, path]),
    [['one', 'log']],
  );
  const target = await openTestMount(folderOf(t));
  await copyMountIn(batches(lines), kept, target);
  assert.match(String((await filesOf(target, 'one')).get('log')?.bytes), /^(line\n)+$/);
});

test('a file that cannot be read is left out and named; a store that is away, or a full copy, is no lost file', async (t) => {
  const { mount, kept } = await setUp(t);
  for (const path of ['a', 'b', 'c']) await putFile(mount, 'one', path, path);
  const failing = (error: Error) => {
    const first = meanwhile(mount, [
      () => {
        throw error;
      },
    ]);
    return copyMountOut(batches(['one']), first, kept);
  };
  const copied = failing(new Error('EIO: i/o error, read'));
  assert.equal((await linesOf(copied)).length, 2);
  assert.deepEqual(
    copied.missing().map(({ reason }) => reason),
    ['EIO: i/o error, read'],
  );
  await assert.rejects(linesOf(failing(new StoreUnavailable('away'))), { name: 'StoreUnavailable' });
  const notThere = join(folderOf(t), 'file');
  writeFileSync(notThere, '');
  const nowhere = copyMountOut(batches(['one']), mount, new BackupBytes(join(notThere, 'mount')));
  await assert.rejects(linesOf(nowhere), { code: 'ENOTDIR' });
});

test('of a file and a folder of one name one is put in its place, and the other is named', async (t) => {
  const { mount, kept } = await setUp(t);
  for (const path of ['a', 'b', 'c']) await putFile(mount, 'one', path, path);
  const lines = await linesOf(copyMountOut(batches(['one']), mount, kept));
  const target = await openTestMount(folderOf(t));
  // One after the other, as forms that went to S3 can make them.
  const [first, ...others] = lines.toSorted((x, y) => (x.path < y.path ? -1 : 1));
  const asked = [first, ...others.map((line) => ({ ...line, path: line.path === 'b' ? 'a/b' : line.path }))];
  const done = await copyMountIn(batches(asked.filter((line) => line !== undefined)), kept, target);
  assert.deepEqual([done.count, done.bytes, done.unplaced.length], [2, 2, 1]);
  assert.match(done.unplaced[0]?.path ?? '', /^a(\/b)?$/);
  assert.equal(done.unplaced[0]?.reason, 'a file and a folder have one name');
  const there = [...(await filesOf(target, 'one')).keys()].sort();
  assert.equal(there.at(-1), 'c');
  assert.equal(there.length, 2);
});

test('bytes that are not those of their line are not written', async (t) => {
  const { mount, kept } = await setUp(t);
  await putFile(mount, 'one', 'a', 'hello');
  const lines = await linesOf(copyMountOut(batches(['one']), mount, kept));
  const damaged = { name: 'CopyDamaged', message: 'the file a of the integration one' };
  const target = await openTestMount(folderOf(t));
  for (const change of [{ size: 4 }, { sha256: 'ab'.repeat(32) }]) {
    const changed = lines.map((line) => ({ ...line, ...change }));
    await assert.rejects(copyMountIn(batches(changed), kept, target), damaged);
    assert.equal((await filesOf(target, 'one')).size, 0);
  }
});

test('what is kept has no name of a caller, is readable by its owner alone, and equal files lie there once', async (t) => {
  const { mount, kept } = await setUp(t);
  await putFile(mount, 'one', 'CON', 'same');
  await putFile(mount, 'one', 'con', 'same');
  const folder = join(folderOf(t), 'mount');
  const own = new BackupBytes(folder);
  const lines = await linesOf(copyMountOut(batches(['one']), mount, own));
  await own.finish();
  assert.equal(lines.length, 2);
  const files = (readdirSync(folder, { recursive: true }) as string[]).filter((path) => path.includes('/'));
  assert.deepEqual(files, [`${lines[0]?.sha256.slice(0, 2)}/${lines[0]?.sha256}`]);
  assert.equal(readFileSync(join(folder, files[0] ?? ''), 'utf8'), 'same');
  assert.throws(() => kept.read('../secret'), /is not the hash of a file/);
  assert.ok(!existsSync(join(folder, 'drafts')));
});
