import { checkFilePath, checkFolderPath, type MountPath, wholePath } from '../../domain/mount-path.ts';
import type { WaitAt } from '../../domain/wait-points.ts';
import { mapAtMost } from '../../lib/map-concurrently.ts';
import { openObject } from '../../storage/s3/open-object.ts';
import type { S3Bucket, TypedObject } from '../../storage/s3/s3-bucket.ts';
import { checkedId, fileInTheWay, fileNames, folderInTheWay, folderNames } from '../mount-names.ts';
import {
  type ByteRange,
  MountConflict,
  type MountEntry,
  type MountFile,
  type MountPage,
  type MountStore,
  type OpenedFile,
  type WalkedFile,
} from '../mount-store.ts';
import type { Spools } from '../spools.ts';
import { isFolder, listFolder, type NamedObject } from './list-folder.ts';

/** Files that are looked at or deleted at once. */
const AT_ONCE = 16;

export interface S3MountOptions {
  readonly bucket: S3Bucket;
  /** Of all mounts; ends with `/`. */
  readonly prefix: string;
  readonly spools: Spools;
  readonly waitAt: WaitAt | undefined;
}

/** Files are objects, folders the beginnings of their keys. */
export class S3MountStore implements MountStore {
  readonly kind = 's3';
  readonly #bucket: S3Bucket;
  readonly #prefix: string;
  readonly #spools: Spools;
  readonly #waitAt: WaitAt | undefined;

  constructor({ bucket, prefix, spools, waitAt }: S3MountOptions) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#spools = spools;
    this.#waitAt = waitAt;
  }

  async find(integrationId: string, path: MountPath): Promise<MountFile | null> {
    const found = await this.#bucket.head(this.#key(integrationId, path));
    return found === null ? null : fileOf(path, found);
  }

  async list(integrationId: string, folder: MountPath, after: string | null, limit: number): Promise<MountPage | null> {
    const prefix = this.#folder(integrationId, folder);
    const pathOf = (name: string) => (folder === '' ? name : `${folder}/${name}`);
    const isName = (name: string, isFile: boolean) => (isFile ? isFilePath : isFolderPath)(pathOf(name));
    const look = async ({ name, object }: NamedObject): Promise<MountEntry | null> => {
      const path = pathOf(name);
      if (object === null) return { kind: 'folder', path };
      // A listing does not say the type.
      return await this.find(integrationId, path);
    };
    const entries: MountEntry[] = [];
    // More than once where some were deleted since they were listed: their places go to those behind them.
    for (let behind = after; ; ) {
      const { names, hasMore } = await listFolder(this.#bucket, prefix, behind, limit - entries.length, isName);
      const isLost = names.length === 0 && behind === after && folder !== '';
      if (isLost && !(await isFolder(this.#bucket, prefix))) return null;
      const found = await mapAtMost(AT_ONCE, names, look);
      entries.push(...found.filter((entry) => entry !== null));
      if (!hasMore || entries.length === limit) return { entries, hasMore };
      behind = names.at(-1)?.name ?? null;
    }
  }

  async *walk(integrationId: string, folder: MountPath): AsyncIterable<WalkedFile> {
    const mount = this.#folder(integrationId, '');
    for await (const page of this.#bucket.pages(this.#folder(integrationId, folder))) {
      for (const { key, size, etag, modifiedAt } of page) {
        const path = key.slice(mount.length);
        if (isFilePath(path)) yield { kind: 'file', path, size, etag, modifiedAt };
      }
    }
  }

  async open(integrationId: string, path: MountPath, range?: ByteRange): Promise<OpenedFile | null> {
    const opened = await openObject(this.#bucket, this.#key(integrationId, path), range ?? null);
    if (opened === null) return null;
    const { object, bytes } = opened;
    return { file: fileOf(path, object), bytes, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
  }

  async write(
    integrationId: string,
    path: MountPath,
    contentType: string,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<MountFile> {
    await this.checkFree(integrationId, path);
    this.#waitAt?.('upload-bytes.before');
    await using spooled = await this.#spools.keep(bytes);
    this.#waitAt?.('upload-bytes.after');
    const key = this.#key(integrationId, path);
    this.#waitAt?.('upload-sync.before');
    const etag = await this.#bucket.put(key, { ...spooled, contentType });
    this.#waitAt?.('upload-sync.after');
    await this.#unlessTaken(integrationId, path, etag);
    const found = await this.#bucket.head(key);
    // Replaced or deleted already: it was there all the same.
    if (found?.etag !== etag) {
      return { kind: 'file', path, size: spooled.length, etag, contentType, modifiedAt: Date.now() };
    }
    return fileOf(path, found);
  }

  /** Of a file and a folder that came to one name at the same moment, at least one finds the other, and goes. */
  async #unlessTaken(integrationId: string, path: MountPath, etag: string): Promise<void> {
    try {
      await this.checkFree(integrationId, path);
    } catch (error) {
      const key = this.#key(integrationId, path);
      if (error instanceof MountConflict && (await this.#bucket.head(key))?.etag === etag) {
        await this.#bucket.delete(key);
      }
      throw error;
    }
  }

  async checkFree(integrationId: string, path: MountPath): Promise<void> {
    const { folders } = fileNames(path);
    const parents = folders.map((_, index) => folders.slice(0, index + 1).join('/'));
    const [isTaken, found] = await Promise.all([
      isFolder(this.#bucket, this.#folder(integrationId, path)),
      mapAtMost(AT_ONCE, parents, (parent) => this.find(integrationId, parent)),
    ]);
    if (isTaken) throw folderInTheWay(path);
    for (const parent of found) if (parent !== null) throw fileInTheWay(parent.path);
  }

  async delete(integrationId: string, path: MountPath): Promise<boolean> {
    const found = await this.#bucket.head(this.#key(integrationId, path));
    if (found === null) return false;
    await this.#bucket.delete(found.key);
    return true;
  }

  async deleteFolder(integrationId: string, folder: MountPath): Promise<number | null> {
    let [files, objects] = [0, 0];
    for await (const page of this.#bucket.pages(this.#folder(integrationId, folder))) {
      // One by one: not every make of S3 deletes many at once, or asks for the same checksum when it does.
      await mapAtMost(AT_ONCE, page, ({ key }) => this.#bucket.delete(key));
      objects += page.length;
      files += page.filter(({ key }) => isFileKey(key)).length;
    }
    return objects === 0 && folder !== '' ? null : files;
  }

  async sweep(olderThanMs: number): Promise<number> {
    const until = Date.now() - olderThanMs;
    return (await this.#spools.sweep(until)) + (await this.#bucket.dropUnfinished(this.#prefix, until));
  }

  // What becomes a key is checked here too, whoever checked it before.

  #key(integrationId: string, path: MountPath): string {
    const { folders, name } = fileNames(path);
    return `${this.#mount(integrationId)}${[...folders, name].join('/')}`;
  }

  #folder(integrationId: string, folder: MountPath): string {
    return `${this.#mount(integrationId)}${folderNames(folder)
      .map((name) => `${name}/`)
      .join('')}`;
  }

  #mount(integrationId: string): string {
    return `${this.#prefix}${checkedId(integrationId)}/`;
  }
}

/** Other tools may give objects keys that no path can name: they are left out, and go with their folder. */
const isFilePath = (path: string): boolean => 'below' in checkFilePath(wholePath(path));
const isFolderPath = (path: string): boolean => 'below' in checkFolderPath(wholePath(path));

/** Some tools make an empty object that ends with a slash, to stand for a folder. */
const isFileKey = (key: string): boolean => !key.endsWith('/');

function fileOf(path: MountPath, { size, etag, contentType, modifiedAt }: TypedObject): MountFile {
  return { kind: 'file', path, size, etag, contentType, modifiedAt };
}
