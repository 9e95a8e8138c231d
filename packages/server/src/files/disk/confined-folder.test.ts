import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { MountConflict, type MountStore } from '../mount-store.ts';
import { DiskMountStore } from './disk-mount-store.ts';
import { byHandle, byPath, type Reach } from './reach.ts';

/** Where syncs cost nothing: some tests do the same a hundred times. */
const MEMORY = '/dev/shm';
const INSIDE = 'from inside';
const OUTSIDE = 'from outside';

async function* once(text: string) {
  yield Buffer.from(text);
}

async function read(mount: MountStore, path: string): Promise<string | null> {
  await using opened = await mount.open('one', path);
  if (opened === null) return null;
  const pieces = await Array.fromAsync(opened.bytes);
  return Buffer.concat(pieces).toString();
}

/** A mount with `f/a.txt` and `f/g/b.txt`, and beside it a folder with the same names that nobody may see. */
async function setUp(t: TestContext, reach: Reach = byHandle) {
  const top = existsSync(MEMORY) ? mkdtempSync(join(MEMORY, 'runwire-test-')) : temporaryFolder();
  t.after(() => rmSync(top, { recursive: true }));
  const mount = await DiskMountStore.open({ folder: join(top, 'mounts'), waitAt: undefined, reach });
  const outside = join(top, 'outside');
  const files = join(top, 'mounts', 'one', 'files');
  for (const folder of [outside, join(files, 'f')]) mkdirSync(join(folder, 'g'), { recursive: true });
  for (const path of ['a.txt', 'g/b.txt']) {
    writeFileSync(join(outside, path), OUTSIDE);
    writeFileSync(join(files, 'f', path), INSIDE);
  }
  const checkOutside = () => {
    assert.deepEqual(readdirSync(outside, { recursive: true }).sort(), ['a.txt', 'g', 'g/b.txt']);
    for (const path of ['a.txt', 'g/b.txt']) assert.equal(readFileSync(join(outside, path), 'utf8'), OUTSIDE);
  };
  return { mount, top, outside, files, checkOutside };
}

for (const [name, reach] of Object.entries({ 'by handles': byHandle, 'by paths': byPath })) {
  test(`${name}: links of files and folders are not there, and what they name is left alone`, async (t) => {
    const { mount, outside, files, checkOutside } = await setUp(t, reach);
    symlinkSync(join(outside, 'a.txt'), join(files, 'link.txt'));
    symlinkSync(outside, join(files, 'links'));
    symlinkSync('f', join(files, 'within'));
    for (const path of ['link.txt', 'links', 'links/a.txt', 'links/g/b.txt', 'within/a.txt']) {
      assert.deepEqual([await mount.find('one', path), await mount.open('one', path)], [null, null], path);
      assert.equal(await mount.delete('one', path), false, path);
    }
    for (const path of ['links', 'links/g', 'within']) {
      assert.equal(await mount.list('one', path, null, 10), null, path);
      assert.deepEqual(await Array.fromAsync(mount.walk('one', path)), [], path);
      assert.equal(await mount.deleteFolder('one', path), null, path);
      await assert.rejects(mount.write('one', `${path}/new.txt`, 'text/plain', once('x')), MountConflict);
      await assert.rejects(mount.checkFree('one', `${path}/new.txt`), MountConflict);
    }
    assert.deepEqual(
      (await mount.list('one', '', null, 10))?.entries.map(({ path }) => path),
      ['f'],
    );
    await mount.write('one', 'link.txt', 'text/plain', once('a file of its own'));
    assert.equal(await read(mount, 'link.txt'), 'a file of its own');
    symlinkSync(outside, join(files, 'f', 'g', 'links'));
    assert.equal(await mount.deleteFolder('one', 'f'), 2);
    assert.equal(await mount.deleteFolder('one', ''), 1);
    checkOutside();
  });
}

test('a link in place of the folders of an integration, or of one of them, leads nowhere', async (t) => {
  const { mount, top, outside, checkOutside } = await setUp(t);
  const mounts = join(top, 'mounts');
  mkdirSync(join(outside, 'files'));
  for (const [from, to] of [
    [join(mounts, 'linked'), outside],
    [join(mounts, 'two', 'files'), join(outside, 'g')],
  ] as const) {
    mkdirSync(join(from, '..'), { recursive: true });
    symlinkSync(to, from);
  }
  for (const id of ['linked', 'two']) {
    assert.equal(await mount.find(id, 'b.txt'), null);
    assert.deepEqual((await mount.list(id, '', null, 10))?.entries, []);
    await assert.rejects(mount.write(id, 'new.txt', 'text/plain', once('x')));
    await mount.sweep(0);
  }
  rmSync(join(outside, 'files'), { recursive: true });
  checkOutside();
});

test('FIFOs, sockets and devices are not there, and nobody waits for them', async (t) => {
  const { mount, files } = await setUp(t);
  execFileSync('mkfifo', [join(files, 'fifo')]);
  const server = createServer().listen(join(files, 'socket'));
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const odd = ['fifo', 'socket'];
  try {
    execFileSync('mknod', [join(files, 'device'), 'c', '1', '5'], { stdio: 'ignore' });
    odd.push('device');
  } catch {
    t.diagnostic('no device can be made here');
  }
  for (const path of odd) {
    assert.deepEqual([await mount.find('one', path), await mount.open('one', path)], [null, null], path);
    assert.equal(await mount.delete('one', path), false, path);
  }
  assert.deepEqual(
    (await mount.list('one', '', null, 10))?.entries.map(({ path }) => path),
    ['f'],
  );
  assert.equal((await Array.fromAsync(mount.walk('one', ''))).length, 2);
  await mount.write('one', 'fifo', 'text/plain', once('replaced'));
  assert.equal(await read(mount, 'fifo'), 'replaced');
  assert.equal(await mount.deleteFolder('one', ''), 3, 'files; the others go along');
  assert.deepEqual(readdirSync(files), []);
});

test('a hard link is a file like others', async (t) => {
  const { mount, files } = await setUp(t);
  linkSync(join(files, 'f', 'a.txt'), join(files, 'again.txt'));
  assert.deepEqual([await read(mount, 'again.txt'), await read(mount, 'f/a.txt')], [INSIDE, INSIDE]);
});

/** Each is done once with a swap before its first step, once before its second, and so on to its end. */
const OPERATIONS: Readonly<Record<string, (mount: MountStore) => Promise<unknown>>> = {
  find: (mount) => mount.find('one', 'f/g/b.txt'),
  read: (mount) => read(mount, 'f/g/b.txt'),
  list: (mount) => mount.list('one', 'f/g', null, 10),
  walk: (mount) => Array.fromAsync(mount.walk('one', '')),
  'replace a file': (mount) => mount.write('one', 'f/g/b.txt', 'text/plain', once('new')),
  'write a new file': (mount) => mount.write('one', 'f/g/c.txt', 'text/plain', once('new')),
  'write into new folders': (mount) => mount.write('one', 'f/h/i/c.txt', 'text/plain', once('new')),
  delete: (mount) => mount.delete('one', 'f/g/b.txt'),
  'delete a folder': (mount) => mount.deleteFolder('one', 'f/g'),
  sweep: (mount) => mount.sweep(0),
};

/** What is put out of the way, and a link to what takes its place. */
const SWAPS = { outer: ['f', ''], inner: ['f/g', 'g'], file: ['f/g/b.txt', 'g/b.txt'] } as const;
type Swap = keyof typeof SWAPS;

/** Does the operation with one swap before each of its steps in turn; resolves to what was seen of the outside. */
async function swapAtEachStep(t: TestContext, reach: Reach, operation: string, swapped: Swap) {
  const [inner, outer] = SWAPS[swapped];
  const seen: string[] = [];
  for (let step = 1, isOver = false; !isOver; step += 1) {
    let steps = Number.NEGATIVE_INFINITY;
    let swap = () => {};
    const swapping: Reach = {
      ...reach,
      at: (folder) => {
        steps += 1;
        if (steps === step) swap();
        return reach.at(folder);
      },
    };
    const { mount, top, outside, files, checkOutside } = await setUp(t, swapping);
    swap = () => {
      if (!existsSync(join(files, inner))) return;
      renameSync(join(files, inner), join(top, 'mounts', 'one', 'away'));
      symlinkSync(join(outside, outer), join(files, inner));
    };
    steps = 0;
    const result = await OPERATIONS[operation]?.(mount).catch((error: Error) => `${error.name}: ${error.message}`);
    isOver = steps < step;
    if (JSON.stringify(result ?? null).includes(OUTSIDE)) seen.push(`step ${step}: read ${OUTSIDE}`);
    try {
      checkOutside();
    } catch {
      seen.push(`step ${step}: changed the outside`);
    }
    rmSync(top, { recursive: true });
    mkdirSync(top);
  }
  return seen;
}

for (const operation of Object.keys(OPERATIONS)) {
  test(`${operation}: links take the place of its folders or its file before any step, and nothing outside is read or changed`, async (t) => {
    for (const swapped of ['outer', 'inner', 'file'] as const) {
      assert.deepEqual(await swapAtEachStep(t, byHandle, operation, swapped), [], swapped);
    }
  });
}

test('sees a store that goes by paths read and change what is outside', async (t) => {
  const plain: Reach = { openFlags: 0, at: ({ path }) => path, check: async () => {} };
  const faults = {
    read: 'inner',
    'write a new file': 'inner',
    'write into new folders': 'outer',
    delete: 'outer',
  } as const;
  for (const [operation, swapped] of Object.entries(faults)) {
    assert.notDeepEqual(await swapAtEachStep(t, plain, operation, swapped), [], operation);
  }
});
