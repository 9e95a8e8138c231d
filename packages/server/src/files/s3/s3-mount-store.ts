import { type MountPath, wholePath } from '../../domain/mount-path.ts';
import type { WaitAt } from '../../domain/wait-points.ts';
import { mapAtMost } from '../../lib/map-at-most.ts';
import {
  type ByteRange,
  MountConflict,
  type MountEntry,
  type MountFile,
  type MountPage,
  type MountStore,
  type OpenedFile,
} from '../mount-store.ts';
import { isFolder, listFolder } from './list-folder.ts';
import { openObject } from './open-object.ts';
import type { S3Bucket, TypedObject } from './s3-bucket.ts';
import type { SpoolFolder } from './spool.ts';

/** Files that are looked at or deleted at once. */
const AT_ONCE = 16;

export interface S3MountOptions {
  readonly bucket: S3Bucket;
  /** Of all mounts; ends with `/`. */
  readonly prefix: string;
  readonly spools: SpoolFolder;
  readonly waitAt: WaitAt | undefined;
}

/** Files are objects, folders the beginnings of their keys. */
export class S3MountStore implements MountStore {
  readonly kind = 's3';
  readonly #bucket: S3Bucket;
  readonly #prefix: string;
  readonly #spools: SpoolFolder;
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
    const { names, hasMore } = await listFolder(this.#bucket, prefix, after, limit);
    if (names.length === 0 && folder !== '' && !(await isFolder(this.#bucket, prefix))) return null;
    const entries = await mapAtMost(AT_ONCE, names, async ({ name, object }): Promise<MountEntry | null> => {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (object === null) return { kind: 'folder', path };
      // A listing does not say the type.
      return await this.find(integrationId, path);
    });
    return { entries: entries.filter((entry) => entry !== null), hasMore };
  }

  async *walk(integrationId: string, folder: MountPath): AsyncIterable<MountFile> {
    const mount = this.#folder(integrationId, '');
    for await (const page of this.#bucket.pages(this.#folder(integrationId, folder))) {
      const paths = page.map(({ key }) => key.slice(mount.length)).filter(isFileKey);
      const files = await mapAtMost(AT_ONCE, paths, (path) => this.find(integrationId, path));
      yield* files.filter((file) => file !== null);
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
    const segments = path.split('/');
    const parents = segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'));
    const [isTaken, ...found] = await Promise.all([
      isFolder(this.#bucket, this.#folder(integrationId, path)),
      ...parents.map((parent) => this.find(integrationId, parent)),
    ]);
    if (isTaken) {
      throw new MountConflict(
        `There is a folder \`${wholePath(path)}\`; give the file another name, or delete the folder first.`,
      );
    }
    const parent = found.find((file) => file !== null);
    if (parent === undefined || parent === null) return;
    throw new MountConflict(
      `There is a file \`${wholePath(parent.path)}\`, which cannot be a folder as well; choose another folder, or delete the file first.`,
    );
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

  #key(integrationId: string, path: MountPath): string {
    return `${this.#prefix}${integrationId}/${path}`;
  }

  #folder(integrationId: string, folder: MountPath): string {
    return folder === '' ? `${this.#prefix}${integrationId}/` : `${this.#key(integrationId, folder)}/`;
  }
}

/** Some tools make an empty object that ends with a slash, to stand for a folder. */
const isFileKey = (key: string): boolean => !key.endsWith('/');

function fileOf(path: MountPath, { size, etag, contentType, modifiedAt }: TypedObject): MountFile {
  return { kind: 'file', path, size, etag, contentType, modifiedAt };
}
