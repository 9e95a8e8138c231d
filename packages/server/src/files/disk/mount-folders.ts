import { LruCache } from '../../lib/lru-cache.ts';
import { codeOf } from '../../storage/disk/as-unavailable.ts';
import { checkedId } from '../mount-names.ts';
import { ConfinedFolder } from './confined-folder.ts';
import type { Reach } from './reach.ts';

/** The files under their own names; what a file system does not know of them; bytes on their way. */
export type MountPart = 'files' | 'about' | 'drafts';
/** Past it, a folder's name is made durable once more. */
const REMEMBERED_FOLDERS = 10_000;
const MAX_TRIES = 10;

/** How far a path leads: the last of its folders that is there, and the names behind it. */
export interface Descent {
  readonly folder: ConfinedFolder;
  readonly left: readonly string[];
}

/** `<folder>/<integrationId>/<part>/…`, reached step by step. */
export class MountFolders {
  readonly #folder: string;
  readonly #reach: Reach;
  /** Folders whose names are durable: so known once each in this process, for it may have been killed before. */
  readonly #durable = new LruCache<string, true>(REMEMBERED_FOLDERS);

  constructor(folder: string, reach: Reach) {
    this.#folder = folder;
    this.#reach = reach;
  }

  outermost(): Promise<ConfinedFolder> {
    return ConfinedFolder.open(this.#folder, this.#reach);
  }

  /** Null: nothing was stored for this integration yet. */
  async part(integrationId: string, part: MountPart): Promise<ConfinedFolder | null> {
    const names = [checkedId(integrationId), part];
    const { folder, left } = await this.descend(await this.outermost(), names);
    if (left.length === 0) return folder;
    await folder[Symbol.asyncDispose]();
    return null;
  }

  async madePart(integrationId: string, part: MountPart): Promise<ConfinedFolder> {
    const id = checkedId(integrationId);
    await using outermost = await this.outermost();
    await using own = await this.#made(outermost, id);
    // Awaited here: what holds `own` open must outlive the step.
    return await this.#made(own, part);
  }

  async #made(parent: ConfinedFolder, name: string): Promise<ConfinedFolder> {
    await parent.makeFolder(name);
    const child = await parent.folder(name);
    if (child === null) throw new FolderGone(`The folder \`${name}\` of the mounts is gone, or is none.`);
    try {
      await this.#keep(parent, child);
    } catch (error) {
      await child[Symbol.asyncDispose]();
      throw error;
    }
    return child;
  }

  /** Down to the folder of a file that is to be written: it and all on the way have durable names. */
  async durably(from: ConfinedFolder, names: readonly string[]): Promise<Descent> {
    return descendBy(from, names, (parent, child) => this.#keep(parent, child));
  }

  /** As far as the path leads; takes the first folder over. */
  descend(from: ConfinedFolder, names: readonly string[]): Promise<Descent> {
    return descendBy(from, names);
  }

  /** Null: there is no such folder. */
  async folder(integrationId: string, names: readonly string[]): Promise<ConfinedFolder | null> {
    const files = await this.part(integrationId, 'files');
    if (files === null) return null;
    const { folder, left } = await this.descend(files, names);
    if (left.length === 0) return folder;
    await folder[Symbol.asyncDispose]();
    return null;
  }

  async #keep(parent: ConfinedFolder, child: ConfinedFolder): Promise<void> {
    if (this.#durable.get(child.identity)) return;
    await parent.sync();
    this.#durable.set(child.identity, true);
  }
}

/** Made, and removed before it was opened: by the sweep. */
class FolderGone extends Error {
  override readonly name = 'FolderGone';
  readonly code = 'ENOENT';
}

/** Again where a folder went meanwhile: the sweep takes those of integrations without files. */
export async function unlessFolderGoes<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || tries === MAX_TRIES) throw error;
    }
  }
}

type Visit = (parent: ConfinedFolder, child: ConfinedFolder) => Promise<void>;

/** Holds two folders at most, however deep it goes. */
async function descendBy(from: ConfinedFolder, names: readonly string[], visit?: Visit): Promise<Descent> {
  let folder = from;
  for (const [depth, name] of names.entries()) {
    let child: ConfinedFolder | null = null;
    try {
      child = await folder.folder(name);
      if (child === null) return { folder, left: names.slice(depth) };
      await visit?.(folder, child);
    } catch (error) {
      await child?.[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
      throw error;
    }
    await folder[Symbol.asyncDispose]();
    folder = child;
  }
  return { folder, left: [] };
}
