import { fork } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  DiskMountStore,
  MountConflict,
  type MountStore,
  type Reach,
  StoreUnavailable,
  temporaryFolder,
} from '@runwire/test-kit';
import { expectAtLeast, expectEqual, Shortfall, within } from '@runwire/test-kit/shortfall.ts';
import type { Proof } from './support/proof.ts';

/*
 * The store of the mounts in this process, and a second one that swaps folders and files of the mount for links to a folder
 * outside, and back, all the time. Outside the same names have other bytes: whatever way the store was led, a read would
 * show them and a write would change them.
 */

const ID = 'demo';
const INSIDE = 'inside';
const OUTSIDE = 'outside';
/** Folders, a folder in a folder, a file: each has its like outside. */
const SWAPPED = ['f', 'f/g', 'h/a.txt'];
const READ = ['f/a.txt', 'f/g/a.txt', 'h/a.txt'];
const WRITTEN = [...READ, 'f/new.txt', 'f/g/new.txt', 'f/n/e/w.txt', 'f/g/n/e/w.txt', 'h/new.txt'];
const ONLY_OUTSIDE = ['f/only-outside.txt', 'f/g/only-outside.txt'];
const AT_ONCE = 16;
const FULL_ROUNDS = 10_000;
const SHORT_ROUNDS = 200;
const MIN_SWAPS = 100;
const PATIENCE_MS = 30_000;

const swapper = fileURLToPath(new URL('./support/swap-links.ts', import.meta.url));

/** The planted fault: every folder and file by its path from the outermost folder on, with the links on it. */
const plainPaths: Reach = { openFlags: 0, at: ({ path }) => path, check: async () => {} };

const FAULTS: Readonly<Record<string, Reach>> = { 'plain-paths': plainPaths };

interface Counts {
  reads: number;
  missed: number;
  writes: number;
  refused: number;
  outsideSeen: number;
}

function putOutside(outside: string): void {
  for (const path of [...READ, ...ONLY_OUTSIDE]) {
    mkdirSync(dirname(join(outside, path)), { recursive: true });
    writeFileSync(join(outside, path), OUTSIDE);
  }
}

/** All names, bytes and times outside: a file that came and went shows in its folder's. */
function stateOf(folder: string): string[] {
  const names = ['.', ...readdirSync(folder, { recursive: true }).map(String)].sort();
  return names.map((name) => {
    const stats = lstatSync(join(folder, name), { bigint: true });
    const bytes = stats.isFile() ? readFileSync(join(folder, name), 'utf8') : '';
    return `${name} ${stats.ino} ${stats.mtimeNs} ${stats.ctimeNs} ${bytes}`;
  });
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function read(mount: MountStore, path: string, counts: Counts): Promise<void> {
  await using opened = await mount.open(ID, path);
  if (opened === null) {
    counts.missed += 1;
    return;
  }
  const text = Buffer.concat(await Array.fromAsync(opened.bytes)).toString();
  if (text.includes(OUTSIDE)) counts.outsideSeen += 1;
  else if (text.startsWith(INSIDE)) counts.reads += 1;
  else throw new Shortfall(`bytes of a file: expected to begin with ${INSIDE}, found ${text}.`);
}

async function write(mount: MountStore, path: string, counts: Counts): Promise<void> {
  try {
    await mount.write(ID, path, 'text/plain', bytesOf(`${INSIDE} ${path}`));
    counts.writes += 1;
  } catch (error) {
    if (!(error instanceof MountConflict) && !(error instanceof StoreUnavailable)) throw error;
    counts.refused += 1;
  }
}

/** Also what else looks at folders, and what removes. */
async function lookAndRemove(mount: MountStore, round: number, counts: Counts): Promise<void> {
  const seen: string[] = [];
  for (const folder of ['', 'f', 'f/g']) {
    for (const { path } of (await mount.list(ID, folder, null, 100))?.entries ?? []) seen.push(path);
  }
  for await (const { path } of mount.walk(ID, '')) seen.push(path);
  counts.outsideSeen += seen.filter((path) => path.endsWith('only-outside.txt')).length;
  for (const path of [...ONLY_OUTSIDE, 'f/new.txt', 'f/g/new.txt']) await mount.delete(ID, path);
  if (round % 2 === 0) await mount.deleteFolder(ID, 'f/g/n');
  for (const path of ONLY_OUTSIDE) if ((await mount.find(ID, path)) !== null) counts.outsideSeen += 1;
}

async function race(mount: MountStore, rounds: number): Promise<Counts> {
  const counts: Counts = { reads: 0, missed: 0, writes: 0, refused: 0, outsideSeen: 0 };
  let next = 0;
  const work = async () => {
    for (let round = next; round < rounds; round = next) {
      next += 1;
      if (round % 2 === 0) await read(mount, READ[(round / 2) % READ.length] ?? '', counts);
      else await write(mount, WRITTEN[((round - 1) / 2) % WRITTEN.length] ?? '', counts);
      if (round % 50 === 0) await lookAndRemove(mount, round / 50, counts);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return counts;
}

/** Resolves to what the work did, and to how many swaps there were meanwhile. */
async function whileSwapped<T>(files: string, outside: string, work: () => Promise<T>) {
  const child = fork(swapper, [files, outside, ...SWAPPED], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    await within('the start of the second process', PATIENCE_MS, once(child, 'message'));
    const done = await work();
    if (child.exitCode !== null) throw new Shortfall('the second process: expected to run to the end, found it gone.');
    child.send('stop');
    const [swaps] = await within('the end of the second process', PATIENCE_MS, once(child, 'message'));
    return { done, swaps: Number(swaps) };
  } finally {
    child.kill('SIGKILL');
  }
}

export const proof: Proof = {
  name: 'mount-race',
  minutes: 2,
  faults: {
    'plain-paths': /^outside_(seen|changed): expected 0, found \d+\.$/m,
  },

  async run({ fault, scale }) {
    const short = scale(true, false);
    const top = temporaryFolder();
    try {
      const [mounts, outside] = [join(top, 'mounts'), join(top, 'outside')];
      const reach = fault === null ? {} : { reach: FAULTS[fault] ?? plainPaths };
      const mount = await DiskMountStore.open({ folder: mounts, waitAt: undefined, ...reach });
      putOutside(outside);
      for (const path of READ) await mount.write(ID, path, 'text/plain', bytesOf(INSIDE));
      const before = stateOf(outside);
      const rounds = short ? SHORT_ROUNDS : FULL_ROUNDS;
      const files = join(mounts, ID, 'files');
      const { done: counts, swaps } = await whileSwapped(files, outside, () => race(mount, rounds));
      expectEqual('outside_seen', counts.outsideSeen, 0);
      const changed = stateOf(outside).filter((line) => !before.includes(line)).length;
      expectEqual('outside_changed', changed, 0);
      expectEqual('names outside', stateOf(outside), before);
      expectEqual('drafts left', readdirSync(join(mounts, ID, 'drafts')).length, 0);
      const { reads, missed, writes, refused } = counts;
      return {
        operations: expectEqual('operations', reads + missed + writes + refused, rounds),
        reads: expectAtLeast('reads', reads, 1),
        missed: expectAtLeast('missed', missed, 1),
        writes: expectAtLeast('writes', writes, 1),
        refused: expectAtLeast('refused', refused, 1),
        swaps: expectAtLeast('swaps', swaps, short ? 1 : MIN_SWAPS),
        outside_seen: counts.outsideSeen,
        outside_changed: changed,
      };
    } finally {
      rmSync(top, { recursive: true, force: true });
    }
  },
};
