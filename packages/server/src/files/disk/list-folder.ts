import { isUtf8 } from 'node:buffer';
import { checkFilePath, checkFolderPath, type MountPath, wholePath } from '../../domain/mount-path.ts';
import type { MountEntry, MountFile, MountPage } from '../mount-store.ts';
import { fileOf } from './about-records.ts';
import type { ConfinedFolder } from './confined-folder.ts';

/** How many files are looked at at once. */
const AT_ONCE = 16;

/** One name in a folder that a path can name; links, devices, sockets and FIFOs are not there. */
interface Named {
  readonly kind: 'file' | 'folder';
  readonly name: Buffer;
  readonly path: MountPath;
}

/** A page by name, in the order of their bytes: no more is looked at than is on it. */
export async function pageOf(
  folder: ConfinedFolder,
  about: ConfinedFolder | null,
  path: MountPath,
  after: string | null,
  limit: number,
): Promise<MountPage> {
  const behind = after === null ? null : Buffer.from(after);
  const named = (await namedIn(folder, path))
    .filter(({ name }) => behind === null || name.compare(behind) > 0)
    .sort((a, b) => a.name.compare(b.name));
  const entries: MountEntry[] = [];
  let next = 0;
  while (entries.length < limit && next < named.length) {
    const some = named.slice(next, next + Math.min(AT_ONCE, limit - entries.length));
    next += some.length;
    entries.push(...(await entriesOf(folder, about, some)));
  }
  return { entries, hasMore: next < named.length };
}

/** All files below a folder; takes it over. What comes and goes meanwhile may be among them or not. */
export async function* filesBelow(
  top: ConfinedFolder,
  about: ConfinedFolder | null,
  path: MountPath,
): AsyncGenerator<MountFile> {
  await using open = new AsyncDisposableStack();
  open.use(top);
  // The folders on the way down, each with those in it that are still to be gone through.
  const way = [{ folder: top, path, waiting: null as Named[] | null }];
  for (let here = way.at(-1); here !== undefined; here = way.at(-1)) {
    if (here.waiting === null) {
      const named = await namedIn(here.folder, here.path);
      here.waiting = named.filter(({ kind }) => kind === 'folder');
      const files = named.filter(({ kind }) => kind === 'file');
      for (let next = 0; next < files.length; next += AT_ONCE) {
        for (const entry of await entriesOf(here.folder, about, files.slice(next, next + AT_ONCE))) {
          if (entry.kind === 'file') yield entry;
        }
      }
    }
    const next = here.waiting.pop();
    if (next === undefined) {
      way.pop();
      await here.folder[Symbol.asyncDispose]();
      continue;
    }
    const folder = await here.folder.folder(next.name);
    if (folder !== null) way.push({ folder: open.use(folder), path: next.path, waiting: null });
  }
}

async function namedIn(folder: ConfinedFolder, path: MountPath): Promise<Named[]> {
  const named: Named[] = [];
  for (const entry of await folder.entries()) {
    const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : null;
    if (kind === null || !isUtf8(entry.name)) continue;
    const own = entry.name.toString();
    const below = path === '' ? own : `${path}/${own}`;
    const checked = kind === 'file' ? checkFilePath(wholePath(below)) : checkFolderPath(wholePath(below));
    if (!('problem' in checked)) named.push({ kind, name: entry.name, path: below });
  }
  return named;
}

/** Without those that are gone by now. */
async function entriesOf(
  folder: ConfinedFolder,
  about: ConfinedFolder | null,
  named: readonly Named[],
): Promise<MountEntry[]> {
  // All are over before the folder may be closed, also where one fails.
  const settled = await Promise.allSettled(
    named.map(async ({ kind, name, path }): Promise<MountEntry | null> => {
      if (kind === 'folder') return { kind, path };
      const stats = await folder.stat(name);
      return stats?.isFile() === true ? fileOf(about, path, stats) : null;
    }),
  );
  return settled.flatMap((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value ?? [];
  });
}
