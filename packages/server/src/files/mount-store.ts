import type { MountPath } from '../domain/mount-path.ts';
import type { ByteRange } from '../storage/blob-store.ts';

export type { ByteRange } from '../storage/blob-store.ts';

/** A file of an integration's mount. */
export interface MountFile {
  readonly kind: 'file';
  readonly path: MountPath;
  readonly size: number;
  /** Of its bytes: another upload has another. With the quotes that HTTP wants. */
  readonly etag: string;
  readonly contentType: string;
  /** In milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** What a walk tells of a file: a store may have to ask for the type of each, and few want to know it. */
export type WalkedFile = Omit<MountFile, 'contentType'>;

export interface MountFolder {
  readonly kind: 'folder';
  readonly path: MountPath;
}

export type MountEntry = MountFile | MountFolder;

export interface MountPage {
  /** By name, in the order of their UTF-8 bytes. */
  readonly entries: readonly MountEntry[];
  readonly hasMore: boolean;
}

export interface OpenedFile extends AsyncDisposable {
  readonly file: MountFile;
  /** The bytes of `file`, and of no later upload of its name. Read once; disposing gives the rest up. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** A file and a folder of one name: the upload is refused. The message is a whole sentence. */
export class MountConflict extends Error {
  override readonly name = 'MountConflict';
}

/**
 * The persistent mount of every integration: one tree of files each, and no way from one to another. Paths are canonical
 * (`domain/mount-path.ts`); `''` stands for the mount itself. Rejects with `StoreUnavailable` where it may be tried again.
 */
export interface MountStore {
  readonly kind: 'disk' | 's3';
  /** Null: there is no file of that name. */
  find(integrationId: string, path: MountPath): Promise<MountFile | null>;
  /** What lies right below a folder, behind the name `after` of it. Null: there is no such folder; the mount is always there. */
  list(integrationId: string, folder: MountPath, after: string | null, limit: number): Promise<MountPage | null>;
  /** All files below a folder at any depth, in no order to count on; perhaps some that come or go meanwhile. */
  walk(integrationId: string, folder: MountPath): AsyncIterable<WalkedFile>;
  /** Null: there is no file of that name. A range that begins behind the end is the caller's affair: look at `file.size`. */
  open(integrationId: string, path: MountPath, range?: ByteRange): Promise<OpenedFile | null>;
  /**
   * There whole and durable when it resolves, or not at all: where `bytes` throws, that is thrown on and nothing stays.
   * One of that name is replaced. Rejects with `MountConflict`.
   */
  write(
    integrationId: string,
    path: MountPath,
    contentType: string,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<MountFile>;
  /** Throws `MountConflict` where a write to this path would; for a form that is to be signed. */
  checkFree(integrationId: string, path: MountPath): Promise<void>;
  /** False: there was no file of that name. Folders that are then empty go with it. */
  delete(integrationId: string, path: MountPath): Promise<boolean>;
  /** With all that is below; resolves to how many files that were, null where there is no such folder. */
  deleteFolder(integrationId: string, folder: MountPath): Promise<number | null>;
  /** What writes that died have left; resolves to how many. */
  sweep(olderThanMs: number): Promise<number>;
}
