import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import {
  MountConflict,
  type MountEntry,
  type MountStore,
  type OpenedFile,
} from '@runwire/server/src/files/mount-store.ts';
import { claimsOn, type FilesHarness, type RunClaim } from './run-claims.ts';

const MIB = 1024 * 1024;
/** The integrations of the tests. */
const [ONE, OTHER] = ['one', 'other'];
const TEXT = 'text/plain; charset=utf-8';

async function* piecesOf(bytes: Uint8Array, pieceBytes = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes);
}

const put = (mount: MountStore, path: string, text: string | Uint8Array, integrationId = ONE) =>
  mount.write(integrationId, path, TEXT, piecesOf(Buffer.from(text)));

async function bytesOf(opened: OpenedFile): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of opened.bytes) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

async function read(mount: MountStore, path: string, integrationId = ONE, first?: number, last?: number) {
  const range = first === undefined || last === undefined ? undefined : { first, last };
  await using opened = await mount.open(integrationId, path, range);
  return opened === null ? null : (await bytesOf(opened)).toString();
}

const show = ({ kind, path }: MountEntry) => (kind === 'folder' ? `${path}/` : path);

/** What lies right below a folder, from its pages. */
async function listed(mount: MountStore, folder: string, limit = 100, integrationId = ONE): Promise<string[] | null> {
  const all: string[] = [];
  for (let after: string | null = null; ; ) {
    const page = await mount.list(integrationId, folder, after, limit);
    if (page === null) return null;
    assert.ok(page.entries.length <= limit, 'no more than asked for');
    all.push(...page.entries.map(show));
    if (!page.hasMore) return all;
    after = page.entries.at(-1)?.path.split('/').at(-1) ?? null;
    assert.notEqual(after, null, 'a page before others is not empty');
  }
}

async function walked(mount: MountStore, folder: string, integrationId = ONE): Promise<string[]> {
  const all: string[] = [];
  for await (const { path } of mount.walk(integrationId, folder)) all.push(path);
  return all.sort();
}

/** What every mount store promises; each adapter runs it. */
export function mountStoreConformance(
  name: string,
  harness: () => Promise<FilesHarness<MountStore>>,
  run: RunClaim = test,
): void {
  const mountTest = claimsOn(name, harness, run);

  mountTest('what was written is there as it was, after a restart too', async (mount, again) => {
    const began = Date.now();
    for (const size of [0, 1, 65_536, 20 * MIB]) {
      const bytes = randomBytes(size);
      const path = `reports/${size}.bin`;
      const written = await mount.write(ONE, path, 'application/pdf', piecesOf(bytes));
      assert.deepEqual([written.kind, written.path, written.size], ['file', path, size]);
      assert.deepEqual([written.contentType, written.etag], ['application/pdf', `"${hash('md5', bytes)}"`]);
      // The clock of a store may be another one's.
      assert.ok(written.modifiedAt >= began - 5000 && written.modifiedAt <= Date.now() + 5000);
      for (const store of [mount, await again()]) {
        assert.deepEqual(await store.find(ONE, path), written);
        await using opened = await store.open(ONE, path);
        assert.ok(opened);
        assert.deepEqual(opened.file, written);
        assert.ok((await bytesOf(opened)).equals(bytes), String(size));
      }
    }
  });

  mountTest('what is not there is null, and the mount itself is there and empty', async (mount) => {
    assert.equal(await mount.find(ONE, 'a.txt'), null);
    assert.equal(await mount.open(ONE, 'a/b.txt'), null);
    assert.equal(await mount.list(ONE, 'a', null, 10), null);
    assert.deepEqual(await mount.list(ONE, '', null, 10), { entries: [], hasMore: false });
    assert.deepEqual(await walked(mount, ''), []);
    assert.deepEqual(await walked(mount, 'a'), []);
    assert.deepEqual([await mount.delete(ONE, 'a.txt'), await mount.deleteFolder(ONE, 'a')], [false, null]);
    await mount.checkFree(ONE, 'a/b.txt');
  });

  mountTest('a file is no folder and a folder no file', async (mount) => {
    await put(mount, 'a/b.txt', 'b');
    assert.deepEqual([await mount.find(ONE, 'a'), await mount.open(ONE, 'a')], [null, null]);
    assert.equal(await mount.find(ONE, 'a/b.txt/c'), null);
    assert.equal(await mount.list(ONE, 'a/b.txt', null, 10), null);
    assert.deepEqual(await walked(mount, 'a/b.txt'), []);
    assert.deepEqual([await mount.delete(ONE, 'a'), await mount.deleteFolder(ONE, 'a/b.txt')], [false, null]);
    assert.equal(await read(mount, 'a/b.txt'), 'b');
  });

  mountTest('where the bytes break off, their error is thrown on and nothing is there', async (mount) => {
    const broken = new Error('The sender went away.');
    async function* breaking(bytes: number) {
      yield* piecesOf(randomBytes(bytes));
      throw broken;
    }
    for (const bytes of [0, 10, 3 * MIB]) {
      await assert.rejects(mount.write(ONE, 'a/b/c.txt', TEXT, breaking(bytes)), (error) => error === broken);
      assert.deepEqual([await mount.find(ONE, 'a/b/c.txt'), await mount.list(ONE, 'a', null, 9)], [null, null]);
    }
    await put(mount, 'a/b/c.txt', 'whole');
    await assert.rejects(mount.write(ONE, 'a/b/c.txt', TEXT, breaking(MIB)), (error) => error === broken);
    assert.equal(await read(mount, 'a/b/c.txt'), 'whole');
    assert.deepEqual(await walked(mount, ''), ['a/b/c.txt']);
  });

  mountTest('a file is not there before its last byte', async (mount) => {
    let seen: unknown = 'not asked';
    async function* looking() {
      yield Buffer.from('first');
      seen = [await mount.find(ONE, 'a/b.txt'), await mount.list(ONE, 'a', null, 9), await walked(mount, '')];
      yield Buffer.from(' and last');
    }
    await mount.write(ONE, 'a/b.txt', TEXT, looking());
    assert.deepEqual(seen, [null, null, []]);
    assert.equal(await read(mount, 'a/b.txt'), 'first and last');
  });

  mountTest('a later file of the same name replaces the earlier one, with its type and etag', async (mount) => {
    const before = await mount.write(ONE, 'a.bin', 'image/png', piecesOf(Buffer.from('before')));
    const after = await mount.write(ONE, 'a.bin', 'image/gif', piecesOf(Buffer.from('after!')));
    assert.notEqual(before.etag, after.etag);
    assert.deepEqual(await mount.find(ONE, 'a.bin'), after);
    assert.deepEqual([after.contentType, await read(mount, 'a.bin')], ['image/gif', 'after!']);
    const page = await mount.list(ONE, '', null, 10);
    assert.deepEqual(page, { entries: [after], hasMore: false });
  });

  mountTest('of many writes of one name at once one is there, whole', async (mount) => {
    const files = Array.from({ length: 8 }, () => randomBytes(300_000));
    await Promise.all(files.map((bytes) => put(mount, 'deep/er/a.bin', bytes)));
    await using opened = await mount.open(ONE, 'deep/er/a.bin');
    assert.ok(opened);
    const found = await bytesOf(opened);
    assert.ok(files.some((bytes) => bytes.equals(found)));
    assert.equal(opened.file.etag, `"${hash('md5', found)}"`);
    assert.deepEqual(await walked(mount, ''), ['deep/er/a.bin']);
  });

  mountTest('many new files of one new folder at once are all there', async (mount) => {
    const paths = Array.from({ length: 20 }, (_, index) => `new/${index % 2}/${index}.txt`);
    await Promise.all(paths.map((path) => put(mount, path, path)));
    assert.deepEqual(await walked(mount, ''), paths.sort());
    for (const path of paths) assert.equal(await read(mount, path), path);
  });

  mountTest('files come and go in one folder at once, and each write is there when it is done', async (mount) => {
    const come = async (path: string) => {
      for (let round = 0; round < 15; round += 1) {
        await put(mount, path, `${round}`);
        assert.equal(await read(mount, path), `${round}`);
        assert.equal(await mount.delete(ONE, path), true);
        assert.equal(await mount.find(ONE, path), null);
      }
    };
    await Promise.all(['x/y/1.txt', 'x/y/2.txt', 'x/3.txt', 'x/y/z/4.txt'].map(come));
    assert.deepEqual([await walked(mount, ''), await listed(mount, '')], [[], []]);
  });

  mountTest('gives any part of a file', async (mount) => {
    await put(mount, 'digits', '0123456789');
    const part = (first: number, last: number) => read(mount, 'digits', ONE, first, last);
    assert.deepEqual(
      [await part(0, 0), await part(2, 4), await part(9, 9), await part(7, 99), await part(0, 9)],
      ['0', '234', '9', '789', '0123456789'],
    );
    await using opened = await mount.open(ONE, 'digits', { first: 3, last: 5 });
    assert.equal(opened?.file.size, 10, 'the size is that of the file');
    const large = randomBytes(3 * MIB);
    await put(mount, 'large', large);
    await using middle = await mount.open(ONE, 'large', { first: MIB - 1, last: 2 * MIB + 1 });
    assert.ok(middle && (await bytesOf(middle)).equals(large.subarray(MIB - 1, 2 * MIB + 2)));
  });

  mountTest('what was opened is read to its end, though it is replaced and deleted meanwhile', async (mount) => {
    const bytes = randomBytes(5 * MIB);
    await put(mount, 'a/b.bin', bytes);
    await using opened = await mount.open(ONE, 'a/b.bin');
    assert.ok(opened);
    const pieces = opened.bytes[Symbol.asyncIterator]();
    const first = await pieces.next();
    assert.equal(first.done, false);
    await put(mount, 'a/b.bin', randomBytes(5 * MIB));
    await mount.delete(ONE, 'a/b.bin');
    const all = [Buffer.from(first.value as Uint8Array)];
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) all.push(Buffer.from(next.value));
    assert.ok(Buffer.concat(all).equals(bytes));
  });

  mountTest('what was opened can be given up, unread or half read', async (mount) => {
    await put(mount, 'a.bin', randomBytes(5 * MIB));
    for (let round = 0; round < 20; round += 1) {
      await using opened = await mount.open(ONE, 'a.bin');
      if (round % 2 === 0) for await (const _ of opened?.bytes ?? []) break;
    }
    assert.equal((await mount.find(ONE, 'a.bin'))?.size, 5 * MIB);
  });

  mountTest('lists one level by name, in the order of their bytes, page by page', async (mount) => {
    // As UTF-16 the last two would change places.
    const names = ['!', '-', '-1', 'A', 'a', 'a b', 'a!', 'ab', 'b.txt', 'é', '\uff5e', '\u{1f600}'];
    await Promise.all([...names].reverse().map((one) => put(mount, `f/${one}`, one)));
    await put(mount, 'f/a.d/x', 'in a folder');
    await put(mount, 'f/a.d/y/z', 'deeper');
    const order = ['!', '-', '-1', 'A', 'a', 'a b', 'a!', 'a.d/', 'ab', 'b.txt', 'é', '\uff5e', '\u{1f600}'];
    const expected = order.map((one) => `f/${one}`);
    for (const limit of [1, 2, 3, 5, order.length, 100]) assert.deepEqual(await listed(mount, 'f', limit), expected);
    assert.deepEqual(await listed(mount, ''), ['f/']);
    assert.deepEqual(await listed(mount, 'f/a.d'), ['f/a.d/x', 'f/a.d/y/']);
    const page = await mount.list(ONE, 'f', 'a b', 2);
    assert.deepEqual([page?.entries.map(show), page?.hasMore], [['f/a!', 'f/a.d/'], true]);
    assert.deepEqual(
      (await mount.list(ONE, 'f', 'a.c', 1))?.entries.map(show),
      ['f/a.d/'],
      'behind one that is not there',
    );
    assert.deepEqual(await mount.list(ONE, 'f', '\u{1f600}', 5), { entries: [], hasMore: false });
  });

  mountTest('a folder stands before the names that begin with its own', async (mount) => {
    const order = ['p/', 'p b', 'p!', 'p-1/', 'p-1.d/', 'p-1.d.txt', 'p.txt', 'pq', 'é/', 'é-1'];
    await Promise.all(order.map((one) => put(mount, one.endsWith('/') ? `${one}x` : one, one)));
    for (const limit of [1, 2, 3, 4, 7, 100]) assert.deepEqual(await listed(mount, '', limit), order);
  });

  mountTest('lists files as they are found, and walks them at any depth', async (mount) => {
    const files = await Promise.all(
      ['top.txt', 'f/a.txt', 'f/g/b.txt', 'f/g/h/c.txt', 'fg/d.txt'].map((path) => put(mount, path, path)),
    );
    assert.deepEqual((await mount.list(ONE, 'f', null, 10))?.entries, [files[1], { kind: 'folder', path: 'f/g' }]);
    const all = [];
    for await (const { kind, path, size, etag, modifiedAt } of mount.walk(ONE, '')) {
      all.push({ kind, path, size, etag, contentType: TEXT, modifiedAt });
    }
    const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
    assert.deepEqual(all.sort(byPath), [...files].sort(byPath));
    assert.deepEqual(await walked(mount, 'f'), ['f/a.txt', 'f/g/b.txt', 'f/g/h/c.txt']);
    assert.deepEqual(await walked(mount, 'f/g/h'), ['f/g/h/c.txt']);
    for await (const _ of mount.walk(ONE, '')) break;
  });

  mountTest('a file and a folder of one name are refused, and leave all as it was', async (mount) => {
    await put(mount, 'a/b/c.txt', 'c');
    await put(mount, 'plain', 'a file');
    const refused: readonly (readonly [string, RegExp])[] = [
      ['a', /^\/app\/mnt\/a is a folder\b.*\.$/],
      ['a/b', /^\/app\/mnt\/a\/b is a folder\b.*\.$/],
      ['plain/d.txt', /^\/app\/mnt\/plain is a file\b.*\.$/],
      ['a/b/c.txt/d/e/f', /^\/app\/mnt\/a\/b\/c\.txt is a file\b.*\.$/],
    ];
    for (const [path, sentence] of refused) {
      for (const attempt of [() => mount.checkFree(ONE, path), () => put(mount, path, 'x')]) {
        await assert.rejects(attempt, (error) => {
          assert.ok(error instanceof MountConflict, String(error));
          assert.match(error.message, sentence);
          return true;
        });
      }
    }
    assert.deepEqual(await walked(mount, ''), ['a/b/c.txt', 'plain']);
    assert.deepEqual([await read(mount, 'a/b/c.txt'), await read(mount, 'plain')], ['c', 'a file']);
    for (const free of ['a/b/c.txt', 'a/b/d.txt', 'plain', 'plain2/d', 'a/bb']) await mount.checkFree(ONE, free);
    await mount.delete(ONE, 'a/b/c.txt');
    await put(mount, 'a', 'now a file');
    assert.equal(await read(mount, 'a'), 'now a file');
  });

  mountTest('a conflict that comes while the bytes come is found too', async (mount) => {
    async function* outrun(path: string) {
      yield Buffer.from('first');
      await put(mount, path, 'was sooner');
    }
    for (const [path, sooner] of [
      ['a', 'a/b'],
      ['c/d', 'c'],
    ] as const) {
      await assert.rejects(mount.write(ONE, path, TEXT, outrun(sooner)), MountConflict);
      assert.deepEqual([await mount.find(ONE, path), await read(mount, sooner)], [null, 'was sooner']);
    }
  });

  mountTest('a deleted file is gone alone, with the folders that are then empty', async (mount) => {
    for (const path of ['a/b/c/1.txt', 'a/2.txt', 'a/b2.txt']) await put(mount, path, path);
    assert.equal(await mount.delete(ONE, 'a/b/c/1.txt'), true);
    assert.deepEqual(await listed(mount, 'a'), ['a/2.txt', 'a/b2.txt']);
    assert.equal(await mount.list(ONE, 'a/b', null, 10), null);
    assert.equal(await mount.delete(ONE, 'a/b/c/1.txt'), false);
    assert.deepEqual([await mount.delete(ONE, 'a/2.txt'), await mount.delete(ONE, 'a/b2.txt')], [true, true]);
    assert.deepEqual(await listed(mount, ''), []);
  });

  mountTest(
    'a deleted folder takes all that is below along and nothing else, and says how many files',
    async (mount) => {
      const below = ['f/a.txt', 'f/g/b.txt', 'f/g/h/c.txt'];
      const beside = ['f.txt', 'f-1/a.txt', 'ff/a.txt', 'p/f/a.txt'];
      for (const path of [...below, ...beside]) await put(mount, path, path);
      await put(mount, 'f/a.txt', 'of another', OTHER);
      assert.equal(await mount.deleteFolder(ONE, 'f'), 3);
      assert.equal(await mount.deleteFolder(ONE, 'f'), null);
      assert.deepEqual(await walked(mount, ''), beside.sort());
      assert.equal(await mount.deleteFolder(ONE, 'p/f'), 1);
      assert.equal(await mount.list(ONE, 'p', null, 10), null, 'which was then empty');
      assert.equal(await mount.deleteFolder(ONE, ''), 3);
      assert.deepEqual([await listed(mount, ''), await mount.deleteFolder(ONE, '')], [[], 0]);
      assert.equal(await read(mount, 'f/a.txt', OTHER), 'of another');
      await put(mount, 'f/a.txt', 'again');
      assert.equal(await read(mount, 'f/a.txt'), 'again');
    },
  );

  mountTest('keeps names byte for byte, and apart where only their Unicode form differs', async (mount) => {
    const names = ['Ünï.txt'.normalize('NFC'), 'Ünï.txt'.normalize('NFD'), '한글', '한글'.normalize('NFD'), 'ﬁ', 'fi'];
    names.push(
      'a%2Fb',
      'a+b',
      ' a ',
      '?x=1&y',
      '#',
      '"quoted"',
      "it's",
      '<&>',
      '🏳️‍🌈.png',
      'ctrl\u00a0space',
      'ß',
      'ẞ',
      'A',
      'a',
      'x.',
      '~',
    );
    for (const own of names) await put(mount, `d é/${own}`, own);
    for (const own of names) assert.equal(await read(mount, `d é/${own}`), own);
    const inOrder = [...names].sort((a, b) => Buffer.from(a).compare(Buffer.from(b)));
    assert.deepEqual(
      await listed(mount, 'd é', 3),
      inOrder.map((own) => `d é/${own}`),
    );
    assert.deepEqual(await walked(mount, ''), names.map((own) => `d é/${own}`).sort());
    for (const own of names) assert.equal(await mount.delete(ONE, `d é/${own}`), true);
    assert.deepEqual(await listed(mount, ''), []);
  });

  mountTest('takes the longest paths', async (mount) => {
    // With the mount before them, 900 bytes.
    const deep = `${'a/'.repeat(445)}b`;
    const long = ['x', 'y', 'z']
      .map((one) => one.repeat(255))
      .join('/')
      .concat(`/${'é'.repeat(61)}`);
    for (const path of [deep, long]) {
      await put(mount, path, 'far down');
      assert.equal(await read(mount, path), 'far down');
    }
    assert.deepEqual(await walked(mount, ''), [deep, long].sort());
    assert.deepEqual([await mount.delete(ONE, deep), await mount.deleteFolder(ONE, 'x'.repeat(255))], [true, 1]);
    assert.deepEqual(await listed(mount, ''), []);
  });

  mountTest('two integrations see nothing of each other', async (mount) => {
    await put(mount, 'a.txt', 'of one');
    await put(mount, 'only/one.txt', 'of one');
    await put(mount, 'a.txt', 'of the other', OTHER);
    assert.deepEqual([await read(mount, 'a.txt'), await read(mount, 'a.txt', OTHER)], ['of one', 'of the other']);
    assert.deepEqual([await mount.find(OTHER, 'only/one.txt'), await mount.list(OTHER, 'only', null, 9)], [null, null]);
    assert.deepEqual([await walked(mount, '', OTHER), await listed(mount, '', 9, OTHER)], [['a.txt'], ['a.txt']]);
    assert.deepEqual(
      [await mount.delete(OTHER, 'only/one.txt'), await mount.deleteFolder(OTHER, 'only')],
      [false, null],
    );
    assert.equal(await mount.deleteFolder(OTHER, ''), 1);
    // One whose id the other's begins with.
    await put(mount, 'a.txt', 'of the third', `${ONE}-2`);
    assert.deepEqual(await walked(mount, ''), ['a.txt', 'only/one.txt']);
    assert.equal(await mount.deleteFolder(ONE, ''), 2);
    assert.equal(await read(mount, 'a.txt', `${ONE}-2`), 'of the third');
  });

  mountTest('nothing but canonical paths and ids is ever asked of what is below', async (mount) => {
    for (const path of ['../x', 'a/../b', './a', '/a', 'a//b', 'a/', '', '.', 'a\\b', 'a\nb', '\ud800']) {
      await assert.rejects(mount.find(ONE, path), /is no path of a file/, path);
      await assert.rejects(mount.open(ONE, path), /is no path of a file/, path);
      await assert.rejects(put(mount, path, 'x'), /is no path of a file/, path);
      await assert.rejects(mount.delete(ONE, path), /is no path of a file/, path);
      if (path === '') continue;
      await assert.rejects(mount.list(ONE, path, null, 1), /is no path of a folder/, path);
      await assert.rejects(mount.deleteFolder(ONE, path), /is no path of a folder/, path);
    }
    for (const id of ['', '..', '.', 'a/b', '../one', 'a b', '-a', 'é', 'a'.repeat(65)]) {
      await assert.rejects(mount.find(id, 'a'), /is no id of an integration/, id);
      await assert.rejects(put(mount, 'a', 'x', id), /is no id of an integration/, id);
    }
  });

  mountTest('a sweep of old left-overs takes no file along', async (mount) => {
    await put(mount, 'a/b.txt', 'kept');
    await put(mount, 'a/b.txt', 'replaced');
    await put(mount, 'gone.txt', 'gone');
    await mount.delete(ONE, 'gone.txt');
    const before = await mount.find(ONE, 'a/b.txt');
    await mount.sweep(0);
    assert.equal(await mount.sweep(0), 0, 'there are none behind a sweep');
    assert.deepEqual([await mount.find(ONE, 'a/b.txt'), await read(mount, 'a/b.txt')], [before, 'replaced']);
    await put(mount, 'gone.txt', 'back');
    assert.deepEqual(await walked(mount, ''), ['a/b.txt', 'gone.txt']);
  });
}
