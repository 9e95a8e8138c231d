import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { mountStoreConformance } from '@runwire/test-kit/mount-store-conformance.ts';
import { watchSyncs } from '@runwire/test-kit/watch-syncs.ts';
import { StartRefused } from '../../domain/start-refused.ts';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import type { UploadPoint, WaitAt } from '../../domain/wait-points.ts';
import { DiskMountStore } from './disk-mount-store.ts';
import { byHandle, byPath, type HeldFolder } from './reach.ts';

for (const [name, reach] of Object.entries({ disk: byHandle, 'disk by paths': byPath })) {
  mountStoreConformance(name, async () => {
    const folder = temporaryFolder();
    return {
      open: () => DiskMountStore.open({ folder: join(folder, 'mounts'), waitAt: undefined, reach }),
      cleanUp: async () => rmSync(folder, { recursive: true }),
    };
  });
}

async function* once(text: string) {
  yield Buffer.from(text);
}

async function setUp(t: TestContext, waitAt?: WaitAt) {
  const top = realpathSync(temporaryFolder());
  t.after(() => rmSync(top, { recursive: true }));
  const own = join(top, 'mounts', 'one');
  const mount = await DiskMountStore.open({ folder: join(top, 'mounts'), waitAt });
  const write = (path: string, text: string) => mount.write('one', path, 'text/plain', once(text));
  const inside = (part: string) => readdirSync(join(own, part), { recursive: true }).sort();
  return { mount, write, inside, top, files: join(own, 'files'), drafts: join(own, 'drafts') };
}

test('a file lies under its own name, for its owner alone', async (t) => {
  const { write, inside, files } = await setUp(t);
  await write('d é/a b.txt', 'hello');
  assert.deepEqual([inside('files'), inside('drafts')], [['d é', 'd é/a b.txt'], []]);
  assert.equal(statSync(join(files, 'd é')).mode & 0o777, 0o700);
  assert.equal(statSync(join(files, 'd é', 'a b.txt')).mode & 0o777, 0o600);
});

test('a file and its folders are synced, then get their names, then these are synced', async (t) => {
  const order: string[] = [];
  const noted: readonly UploadPoint[] = ['upload-rename.before', 'upload-rename.after', 'upload-folder-sync.after'];
  const { write, files, top } = await setUp(t, (point) => {
    if (noted.some((one) => one === point)) order.push(point);
  });
  await watchSyncs(t, async (path) => {
    order.push(path.replace(/[0-9a-f]{64}-\d+|[0-9a-f]{24}/, '*').replace(top, ''));
  });
  await write('a/b/c.txt', 'new');
  const own = '/mounts/one';
  const about = [`${own}/about/*`, `${own}/about`];
  // The names of the integration's own folders, when each is first used.
  assert.deepEqual(order, [
    '/mounts',
    own,
    `${own}/drafts/*`,
    own,
    ...about,
    own,
    `${own}/drafts/*.folder`,
    `${own}/drafts/*.folder/b`,
    'upload-rename.before',
    'upload-rename.after',
    `${own}/files`,
    'upload-folder-sync.after',
  ]);
  order.length = 0;
  await write('a/b/d.txt', 'beside it');
  const [draft, ...rest] = order;
  assert.equal(draft, `${own}/drafts/*`);
  // Who finds folders cannot know that their names are durable: once is enough.
  const last = ['upload-rename.before', 'upload-rename.after', `${own}/files/a/b`, 'upload-folder-sync.after'];
  assert.deepEqual(rest, [...about, `${own}/files`, `${own}/files/a`, ...last]);
  order.length = 0;
  await write('a/b/d.txt', 'again');
  assert.deepEqual(order, [draft, ...about, ...last]);
  assert.ok(existsSync(join(files, 'a/b/d.txt')));
});

test('a folder that cannot be made stops the start with one sentence', async (t) => {
  const { top } = await setUp(t);
  writeFileSync(join(top, 'file'), '');
  await assert.rejects(DiskMountStore.open({ folder: join(top, 'file'), waitAt: undefined }), (error) => {
    assert.ok(error instanceof StartRefused);
    assert.match(error.message, /^The folder for files cannot be created \(.*\); fix that in the data folder\.$/);
    return true;
  });
});

test('a full disk can be tried again, and leaves nothing of the write', async (t) => {
  const { write, inside } = await setUp(t);
  await write('a/b.txt', 'before');
  const file = await open('/dev/null');
  const prototype = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const mocked = t.mock.method(prototype, 'write', () => Promise.reject(full));
  await assert.rejects(write('a/c/d.txt', 'x'), (error) => error instanceof StoreUnavailable && error.cause === full);
  mocked.mock.restore();
  assert.deepEqual([inside('files'), inside('drafts'), inside('about').length], [['a', 'a/b.txt'], [], 1]);
});

test('a write whose folder is removed or taken before its last step comes to the same end as one after it', async (t) => {
  let before = () => {};
  const { mount, write, inside, files } = await setUp(t, (point) => {
    if (point === 'upload-rename.before') before();
  });
  const beforeOnce = (act: () => void) => {
    before = () => {
      before = () => {};
      act();
    };
  };
  mkdirSync(join(files, 'a/b'), { recursive: true });
  beforeOnce(() => rmSync(join(files, 'a'), { recursive: true }));
  await write('a/b/c.txt', 'the folder went');
  beforeOnce(() => {
    mkdirSync(join(files, 'x/y'), { recursive: true });
    writeFileSync(join(files, 'x/other'), '');
  });
  await write('x/y/z.txt', 'the folder came');
  beforeOnce(() => writeFileSync(join(files, 'n'), 'a file came'));
  await assert.rejects(write('n/c.txt', 'refused'), /^MountConflict: \/app\/mnt\/n is a file\b/);
  beforeOnce(() => mkdirSync(join(files, 'm')));
  await assert.rejects(write('m', 'refused'), /^MountConflict: \/app\/mnt\/m is a folder\b/);
  assert.deepEqual(inside('drafts'), []);
  assert.deepEqual(inside('files'), ['a', 'a/b', 'a/b/c.txt', 'm', 'n', 'x', 'x/other', 'x/y', 'x/y/z.txt']);
  assert.equal(inside('about').length, 2);
  assert.equal((await mount.find('one', 'x/y/z.txt'))?.contentType, 'text/plain');
});

test('files put there by hand are found, with no type and an etag that changes with them', async (t) => {
  const { mount, write, files } = await setUp(t);
  const { etag: uploaded } = await write('a.txt', 'uploaded');
  writeFileSync(join(files, 'b.txt'), 'by hand');
  const first = await mount.find('one', 'b.txt');
  assert.deepEqual([first?.contentType, first?.size], ['application/octet-stream', 7]);
  assert.match(first?.etag ?? '', /^"[0-9a-f]+-[0-9a-f]+-[0-9a-f]+"$/);
  appendFileSync(join(files, 'b.txt'), '!');
  assert.notEqual((await mount.find('one', 'b.txt'))?.etag, first?.etag);
  // What was said of the uploaded one counts no more.
  appendFileSync(join(files, 'a.txt'), ' and changed');
  const changed = await mount.find('one', 'a.txt');
  assert.notEqual(changed?.etag, uploaded);
  assert.equal(changed?.contentType, 'application/octet-stream');
  renameSync(join(files, 'b.txt'), join(files, 'a.txt'));
  assert.equal((await mount.find('one', 'a.txt'))?.size, 8);
});

test('a copy of the folder knows the types and etags of its files', async (t) => {
  const { write, top } = await setUp(t);
  const written = [await write('a.txt', 'a'), await write('d/b.txt', 'b')];
  execFileSync('cp', ['-a', join(top, 'mounts'), join(top, 'copy')]);
  const copy = await DiskMountStore.open({ folder: join(top, 'copy'), waitAt: undefined });
  assert.deepEqual(await Array.fromAsync(copy.walk('one', '')), written);
  const longAgo = new Date(Date.now() - 2 * 86_400_000);
  for (const name of readdirSync(join(top, 'copy/one/about')))
    utimesSync(join(top, 'copy/one/about', name), longAgo, longAgo);
  assert.equal(await copy.sweep(86_400_000), 0);
});

test('of files that have one path and size at the same moment none is taken for the other', async (t) => {
  let before = () => {};
  const { mount, write, inside, files } = await setUp(t, (point) => {
    if (point === 'upload-rename.before') before();
  });
  const handle = await open('/dev/null');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const utimes = prototype.utimes;
  const moment = 1_700_000_000.5;
  // The clock stands still, until a file is given another time on purpose.
  let stamps = 0;
  t.mock.method(prototype, 'utimes', function (this: FileHandle, atime: number, mtime: number) {
    stamps += 1;
    return utimes.call(this, atime, stamps === 1 ? moment : mtime);
  });
  const next = async (text: string) => {
    stamps = 0;
    const { etag } = await write('a.txt', text);
    assert.deepEqual([(await mount.find('one', 'a.txt'))?.etag, inside('about').length], [etag, 1], text);
    return etag;
  };
  const etag = await next('one');
  before = () => assert.equal(inside('about').length, 2, 'that of the replaced one stays while it is there');
  assert.notEqual(await next('two'), etag);
  rmSync(join(files, 'a.txt'));
  for (const name of inside('about')) rmSync(join(files, '../about', String(name)));
  // By hand, at that moment too: it has no record, and gets none.
  writeFileSync(join(files, 'a.txt'), 'old');
  utimesSync(join(files, 'a.txt'), moment, moment);
  const byHand = statSync(join(files, 'a.txt'), { bigint: true }).mtimeNs;
  before = () => assert.ok(!inside('about').some((name) => String(name).endsWith(`-${byHand}`)));
  await next('new');
});

test('names that no path can name are not listed, and go with their folder', async (t) => {
  const { mount, write, inside, files } = await setUp(t);
  await write('f/a.txt', 'a');
  for (const name of [Buffer.from([0x66, 0xff]), Buffer.from('back\\slash'), Buffer.from('line\nbreak')]) {
    writeFileSync(Buffer.concat([Buffer.from(join(files, 'f/')), name]), 'odd');
  }
  mkdirSync(join(files, 'f', ' ', 'deep'), { recursive: true });
  const page = await mount.list('one', 'f', null, 1);
  assert.deepEqual([page?.entries.map(({ path }) => path), page?.hasMore], [['f/a.txt'], false]);
  assert.equal((await Array.fromAsync(mount.walk('one', ''))).length, 1);
  assert.equal(await mount.deleteFolder('one', 'f'), 4);
  assert.deepEqual([inside('files'), inside('drafts')], [[], []]);
});

test('a page is made without a look at the files that are not on it', async (t) => {
  const { files, top } = await setUp(t);
  mkdirSync(files, { recursive: true });
  for (let file = 0; file < 300; file += 1) writeFileSync(join(files, String(1000 + file)), '');
  let steps = 0;
  const at = (folder: Parameters<typeof byHandle.at>[0]) => {
    steps += 1;
    return byHandle.at(folder);
  };
  const mount = await DiskMountStore.open({
    folder: join(top, 'mounts'),
    waitAt: undefined,
    reach: { ...byHandle, at },
  });
  const page = await mount.list('one', '', '1099', 3);
  assert.deepEqual([page?.entries.map(({ path }) => path), page?.hasMore], [['1100', '1101', '1102'], true]);
  assert.ok(steps < 20, `${steps} steps`);
});

test('left-overs of writes that died are swept when they are old, and the folders of who has no files', async (t) => {
  const { mount, write, inside, drafts, top } = await setUp(t);
  await write('a/b.txt', 'kept');
  await write('gone.txt', 'gone');
  rmSync(join(top, 'mounts/one/files/gone.txt'));
  mkdirSync(join(drafts, 'old.folder/x/y'), { recursive: true });
  for (const path of ['old', 'old.folder/x/y/file', 'young']) writeFileSync(join(drafts, path), 'half');
  writeFileSync(join(top, 'mounts/one/about/torn'), '{"path"');
  assert.equal(await mount.sweep(86_400_000), 0);
  const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000);
  for (const name of ['old', 'old.folder']) utimesSync(join(drafts, name), twoDaysAgo, twoDaysAgo);
  for (const name of inside('about')) utimesSync(join(top, 'mounts/one/about', String(name)), twoDaysAgo, twoDaysAgo);
  const before = await mount.find('one', 'a/b.txt');
  assert.equal(await mount.sweep(86_400_000), 4, 'two drafts and two records');
  assert.deepEqual([inside('drafts'), inside('about').length], [['young'], 1]);
  assert.deepEqual(await mount.find('one', 'a/b.txt'), before);
  await mount.delete('one', 'a/b.txt');
  assert.equal(await mount.sweep(0), 1);
  assert.deepEqual(readdirSync(join(top, 'mounts')), []);
});

test('a sweep goes past a folder that another sweep was sooner with', async (t) => {
  const { top, drafts } = await setUp(t);
  mkdirSync(join(drafts, 'old.folder/x/y'), { recursive: true });
  mkdirSync(join(drafts, 'old.folder/z'));
  writeFileSync(join(drafts, 'old.folder/z/file'), 'half');
  // Between the look into the folder and the step that moves what was seen there.
  const check = async (held: HeldFolder) => {
    if (held.path.endsWith('/old.folder')) rmSync(join(drafts, 'old.folder/x'), { recursive: true, force: true });
    await byHandle.check(held);
  };
  const mount = await DiskMountStore.open({
    folder: join(top, 'mounts'),
    waitAt: undefined,
    reach: { ...byHandle, check },
  });
  assert.equal(await mount.sweep(0), 1);
  assert.deepEqual(readdirSync(join(top, 'mounts')), []);
});

test('an integration whose folder cannot be swept is named, and keeps none of the others from it', async (t) => {
  const { top } = await setUp(t);
  const ids = ['a', 'b', 'bad1', 'bad2', 'c', 'd'];
  for (const id of ids) {
    mkdirSync(join(top, 'mounts', id, 'drafts'), { recursive: true });
    writeFileSync(join(top, 'mounts', id, 'drafts/old'), 'half');
  }
  const check = async (held: HeldFolder) => {
    if (/\/bad\d\/drafts$/.test(held.path)) throw Object.assign(new Error('input/output error'), { code: 'EIO' });
    await byHandle.check(held);
  };
  const mount = await DiskMountStore.open({
    folder: join(top, 'mounts'),
    waitAt: undefined,
    reach: { ...byHandle, check },
  });
  await assert.rejects(mount.sweep(0), (error) => {
    assert.ok(error instanceof AggregateError);
    assert.deepEqual(error.errors.map(({ message }) => /integration (\w+) stays/.exec(message)?.[1]).sort(), [
      'bad1',
      'bad2',
    ]);
    return true;
  });
  assert.deepEqual(readdirSync(join(top, 'mounts')).sort(), ['bad1', 'bad2']);
});

test('a sweep keeps the folders of an integration during a write', async (t) => {
  const { mount, write, top } = await setUp(t);
  await write('a/b.txt', 'first');
  await mount.delete('one', 'a/b.txt');
  const reading = Promise.withResolvers<void>();
  const swept = Promise.withResolvers<void>();
  async function* paused() {
    yield Buffer.from('sec');
    reading.resolve();
    await swept.promise;
    yield Buffer.from('ond');
  }
  const writing = mount.write('one', 'a/b.txt', 'text/plain', paused());
  await reading.promise;
  await mount.sweep(3_600_000);
  assert.deepEqual(readdirSync(join(top, 'mounts/one')).sort(), ['about', 'drafts', 'files']);
  swept.resolve();
  assert.equal((await writing).size, 6);
});

test('sweeps beside writes and deletes disturb none of them', async (t) => {
  const { mount, write } = await setUp(t);
  let isOver = false;
  const sweeping = (async () => {
    while (!isOver) await mount.sweep(3_600_000);
  })();
  for (let round = 0; round < 40; round += 1) {
    await write('a/b.txt', String(round));
    assert.equal((await mount.find('one', 'a/b.txt'))?.contentType, 'text/plain');
    await mount.delete('one', 'a/b.txt');
  }
  isOver = true;
  await sweeping;
});
