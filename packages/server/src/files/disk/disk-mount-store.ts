import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { MountPath } from '../../domain/mount-path.ts';
import type { WaitAt } from '../../domain/wait-points.ts';
import { syncFolder } from '../../lib/durable-files.ts';
import { asUnavailable } from '../../storage/disk/as-unavailable.ts';
import { makeFolder } from '../../storage/disk/make-folder.ts';
import { fileNames, folderNames } from '../mount-names.ts';
import type { ByteRange, MountFile, MountPage, MountStore, OpenedFile } from '../mount-store.ts';
import { type FileMark, fileOf, forgetAbout, type Known, keepAbout, mountFile } from './about-records.ts';
import type { ConfinedFolder } from './confined-folder.ts';
import { deleteFile, deleteTree } from './delete-files.ts';
import { filesBelow, pageOf } from './list-folder.ts';
import { MountFolders, unlessFolderGoes } from './mount-folders.ts';
import { findConflict, folderAround, placeDraft } from './place-draft.ts';
import { type Reach, surestReach } from './reach.ts';
import { readPieces } from './read-file.ts';
import { newDraft, removeDraft } from './remove-draft.ts';
import { sweepMounts } from './sweep-mounts.ts';
import { writeDraft } from './write-draft.ts';

export interface DiskMountOptions {
  readonly folder: string;
  readonly waitAt: WaitAt | undefined;
  /** How folders are reached; the surest way of this system, where it is not given. */
  readonly reach?: Reach;
}

/**
 * The mounts as folders of files under their own names:
 *
 *   <folder>/<integrationId>/files/…     what an agent sees as `/app/mnt`
 *   <folder>/<integrationId>/about/…     types and etags, of uploaded files
 *   <folder>/<integrationId>/drafts/…    bytes on their way in, and folders on their way out
 */
export class DiskMountStore implements MountStore {
  readonly kind = 'disk';
  readonly #folders: MountFolders;
  readonly #waitAt: WaitAt | undefined;

  private constructor({ folder, waitAt, reach }: DiskMountOptions) {
    this.#folders = new MountFolders(folder, reach ?? surestReach());
    this.#waitAt = waitAt;
  }

  static async open(options: DiskMountOptions): Promise<DiskMountStore> {
    await makeFolder(options.folder, 'files', () => syncFolder(dirname(options.folder)));
    return new DiskMountStore(options);
  }

  find(integrationId: string, path: MountPath): Promise<MountFile | null> {
    return orNotNow(async () => {
      const stats = await this.#stats(integrationId, path);
      return stats && (await this.#describe(integrationId, path, stats));
    });
  }

  list(integrationId: string, path: MountPath, after: string | null, limit: number): Promise<MountPage | null> {
    return orNotNow(async () => {
      await using folder = await this.#folders.folder(integrationId, folderNames(path));
      if (folder === null) return path === '' ? { entries: [], hasMore: false } : null;
      await using about = await this.#folders.part(integrationId, 'about');
      return await pageOf(folder, about, path, after, limit);
    });
  }

  async *walk(integrationId: string, path: MountPath): AsyncIterable<MountFile> {
    try {
      await using about = await this.#folders.part(integrationId, 'about');
      const folder = await this.#folders.folder(integrationId, folderNames(path));
      if (folder !== null) yield* filesBelow(folder, about, path);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  open(integrationId: string, path: MountPath, range?: ByteRange): Promise<OpenedFile | null> {
    return orNotNow(async () => {
      const { folders, name } = fileNames(path);
      await using folder = await this.#folders.folder(integrationId, folders);
      const found = (await folder?.file(name)) ?? null;
      if (found === null) return null;
      const { handle, stats } = found;
      const close = () => handle.close();
      try {
        const file = await this.#describe(integrationId, path, stats);
        return { file, bytes: readPieces(handle, file.size, range), [Symbol.asyncDispose]: close };
      } catch (error) {
        await close();
        throw error;
      }
    });
  }

  write(
    integrationId: string,
    path: MountPath,
    contentType: string,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<MountFile> {
    return orNotNow(async () => {
      // Before its bytes come, for they may be many; and again when it gets its place.
      await this.#checkFree(integrationId, path);
      const draft = newDraft();
      const opened = await unlessFolderGoes(async () => {
        const drafts = await this.#folders.madePart(integrationId, 'drafts');
        return { drafts, file: await openIn(drafts, draft) };
      });
      await using drafts = opened.drafts;
      try {
        await using file = opened.file;
        const known = { contentType, etag: await writeDraft(file, bytes, this.#waitAt) };
        const stats = await this.#place(drafts, draft, integrationId, path, file, known);
        return mountFile(path, stats, known);
      } catch (error) {
        for (const left of [draft, folderAround(draft)]) await removeDraft(drafts, left);
        throw error;
      }
    });
  }

  async #place(
    drafts: ConfinedFolder,
    draft: string,
    integrationId: string,
    path: MountPath,
    file: FileHandle,
    known: Known,
  ): Promise<BigIntStats> {
    const replaced = await this.#stats(integrationId, path);
    const stats = await unlessFolderGoes(async () => {
      await using about = await this.#folders.madePart(integrationId, 'about');
      return await keepAbout(about, path, file, known, replaced);
    });
    try {
      await placeDraft({ folders: this.#folders, integrationId, path, drafts, draft, waitAt: this.#waitAt });
    } catch (error) {
      await this.#forget(integrationId, path, stats);
      throw error;
    }
    // Of one that came in between, the record is swept.
    if (replaced !== null) await this.#forget(integrationId, path, replaced);
    return stats;
  }

  checkFree(integrationId: string, path: MountPath): Promise<void> {
    return orNotNow(() => this.#checkFree(integrationId, path));
  }

  async #checkFree(integrationId: string, path: MountPath): Promise<void> {
    const files = await this.#folders.part(integrationId, 'files');
    if (files === null) return;
    const { folder, left } = await this.#folders.descend(files, fileNames(path).folders);
    await using held = folder;
    await findConflict(held, left, path);
  }

  delete(integrationId: string, path: MountPath): Promise<boolean> {
    return orNotNow(async () => {
      const removed = await deleteFile(this.#folders, integrationId, path);
      if (removed !== null) await this.#forget(integrationId, path, removed);
      return removed !== null;
    });
  }

  deleteFolder(integrationId: string, path: MountPath): Promise<number | null> {
    return orNotNow(() => deleteTree(this.#folders, integrationId, path));
  }

  sweep(olderThanMs: number): Promise<number> {
    return orNotNow(() => sweepMounts(this.#folders, olderThanMs));
  }

  async #stats(integrationId: string, path: MountPath): Promise<BigIntStats | null> {
    const { folders, name } = fileNames(path);
    await using folder = await this.#folders.folder(integrationId, folders);
    const stats = (await folder?.stat(name)) ?? null;
    return stats?.isFile() === true ? stats : null;
  }

  async #forget(integrationId: string, path: MountPath, file: FileMark): Promise<void> {
    await using about = await this.#folders.part(integrationId, 'about');
    await forgetAbout(about, path, file);
  }

  async #describe(integrationId: string, path: MountPath, stats: BigIntStats): Promise<MountFile> {
    await using about = await this.#folders.part(integrationId, 'about');
    return await fileOf(about, path, stats);
  }
}

async function openIn(drafts: ConfinedFolder, draft: string) {
  try {
    return await drafts.newFile(draft);
  } catch (error) {
    await drafts[Symbol.asyncDispose]();
    throw error;
  }
}

async function orNotNow<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asUnavailable(error);
  }
}
