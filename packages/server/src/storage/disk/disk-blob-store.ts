import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '@runwire/lib/durable-files.ts';
import type { WaitAt } from '../../domain/wait-points.ts';
import { asUnavailable, onDisk } from '../as-unavailable.ts';
import {
  type BlobKey,
  type BlobStore,
  type ByteRange,
  checkBlobKey,
  isBlobKey,
  type ListedBlob,
  type OpenedBlob,
  type WrittenBytes,
} from '../blob-store.ts';
import { makeFolder } from '../make-folder.ts';
import { writePieces } from '../write-pieces.ts';

const SHARD = /^[0-9a-f]{2}$/;
/** Files are written to this folder before they get their names. */
export const DRAFTS = 'drafts';
/** The pieces' size in which a file is compared. */
const PIECE_BYTES = 1024 * 1024;
const READ_BYTES = 256 * 1024;
/** No put takes this long: an older draft belongs to a process that died. */
const DRAFT_MS = 86_400_000;

interface FolderSync {
  readonly done: Promise<void>;
  /** For puts that were renamed after this sync began. */
  next: Promise<void> | null;
}

/** Stores blobs as files in 256 folders, by the first byte of their names. */
export class DiskBlobStore implements BlobStore {
  readonly #folder: string;
  /** The folder names' syncs, one per folder and process. Concurrent puts wait for the same sync. */
  readonly #shardSyncs = new Map<string, Promise<void>>();

  /** The syncs of folders under way. */
  readonly #running = new Map<string, FolderSync>();
  readonly #waitAt: WaitAt | undefined;

  private constructor(folder: string, waitAt: WaitAt | undefined) {
    this.#folder = folder;
    this.#waitAt = waitAt;
  }

  static async open(folder: string, waitAt?: WaitAt): Promise<DiskBlobStore> {
    await makeFolder(join(folder, DRAFTS), 'files', () => syncFolder(dirname(folder)));
    return new DiskBlobStore(folder, waitAt);
  }

  async put(key: BlobKey, bytes: Uint8Array): Promise<void> {
    await this.#store(key, async (file) => {
      this.#waitAt?.('upload-bytes.before');
      await onDisk(file.writeFile(bytes));
      this.#waitAt?.('upload-bytes.after');
    });
  }

  async write(key: BlobKey, bytes: AsyncIterable<Uint8Array>): Promise<WrittenBytes> {
    const { size, md5 } = await this.#store(key, (file) => writePieces(file, bytes, this.#waitAt));
    return { size, md5: md5.toString('hex') };
  }

  /** Writes a draft and gives it its name when it is durable. */
  async #store<T>(key: BlobKey, fill: (file: FileHandle) => Promise<T>): Promise<T> {
    const path = this.#path(key);
    const draft = join(this.#folder, DRAFTS, `${key}.${randomBytes(6).toString('hex')}`);
    const waitAt = this.#waitAt;
    try {
      const file = await onDisk(open(draft, 'wx', 0o600));
      let filled: T;
      try {
        filled = await fill(file);
        waitAt?.('upload-sync.before');
        await onDisk(file.sync());
        waitAt?.('upload-sync.after');
      } finally {
        await file.close();
      }
      const shard = this.#shard(key);
      await onDisk(this.#makeShard(shard));
      waitAt?.('upload-rename.before');
      await onDisk(rename(draft, path));
      waitAt?.('upload-rename.after');
      waitAt?.('upload-folder-sync.before');
      await onDisk(this.#syncShard(shard));
      waitAt?.('upload-folder-sync.after');
      return filled;
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  /** The folder's name must be as durable as its contents. */
  async #makeShard(shard: string): Promise<void> {
    const isNew = (await mkdir(shard, { recursive: true, mode: 0o700 })) !== undefined;
    let synced = isNew ? undefined : this.#shardSyncs.get(shard);
    if (synced === undefined) {
      synced = syncFolder(this.#folder);
      this.#shardSyncs.set(shard, synced);
      synced.catch(() => this.#shardSyncs.delete(shard));
    }
    await synced;
  }

  /** Concurrent puts share a sync that begins after their renames. */
  #syncShard(shard: string): Promise<void> {
    const running = this.#running.get(shard);
    if (running === undefined) return this.#startSync(shard);
    running.next ??= running.done.catch(() => {}).then(() => this.#startSync(shard));
    return running.next;
  }

  #startSync(shard: string): Promise<void> {
    const done = syncFolder(shard);
    const sync: FolderSync = { done, next: null };
    this.#running.set(shard, sync);
    const end = () => {
      if (this.#running.get(shard) === sync && sync.next === null) this.#running.delete(shard);
    };
    done.then(end, end);
    return done;
  }

  async read(key: BlobKey): Promise<Uint8Array | null> {
    return await unlessMissing(readFile(this.#path(key)));
  }

  async open(key: BlobKey, range?: ByteRange): Promise<OpenedBlob | null> {
    const file = await onDisk(unlessMissing(open(this.#path(key), 'r')));
    if (file === null) return null;
    const { size } = await file.stat();
    return { size, bytes: getPieces(file, size, range), [Symbol.asyncDispose]: () => file.close() };
  }

  async holds(key: BlobKey, bytes: Uint8Array): Promise<boolean> {
    try {
      const file = await unlessMissing(open(this.#path(key), 'r'));
      if (file === null) return false;
      try {
        return (await file.stat()).size === bytes.length && (await hasBytes(file, bytes));
      } finally {
        await file.close();
      }
    } catch (error) {
      // A blob that the disk cannot read counts as missing.
      if ((error as NodeJS.ErrnoException).code === 'EIO') return false;
      throw asUnavailable(error);
    }
  }

  async has(key: BlobKey, sizeBytes: number): Promise<boolean> {
    return (await unlessMissing(stat(this.#path(key))))?.size === sizeBytes;
  }

  async delete(key: BlobKey): Promise<void> {
    await rm(this.#path(key), { force: true });
  }

  async deleteUnfinished(key: BlobKey): Promise<void> {
    const drafts = join(this.#folder, DRAFTS);
    const names = (await readdir(drafts)).filter((name) => name.startsWith(`${checkBlobKey(key)}.`));
    for (const name of names) await rm(join(drafts, name), { force: true });
    await this.delete(key);
  }

  async *list(): AsyncIterable<ListedBlob> {
    await this.#dropOldDrafts();
    for (const shard of (await readdir(this.#folder)).filter((name) => SHARD.test(name))) {
      for (const key of await readdir(join(this.#folder, shard))) {
        const known = isBlobKey(key) ? await unlessMissing(stat(this.#path(key))) : null;
        if (known !== null) yield { key, putAt: known.mtimeMs };
      }
    }
  }

  async #dropOldDrafts(): Promise<void> {
    for (const name of await readdir(join(this.#folder, DRAFTS))) {
      const path = join(this.#folder, DRAFTS, name);
      const known = await unlessMissing(stat(path));
      if (known !== null && known.mtimeMs <= Date.now() - DRAFT_MS) await rm(path, { force: true });
    }
  }

  #shard(key: BlobKey): string {
    return join(this.#folder, checkBlobKey(key).slice(0, 2));
  }

  #path(key: BlobKey): string {
    return join(this.#shard(key), key);
  }
}

async function* getPieces(file: FileHandle, size: number, range?: ByteRange): AsyncGenerator<Uint8Array> {
  const end = Math.min(size, (range?.last ?? size) + 1);
  for (let position = range?.first ?? 0; position < end; ) {
    const piece = Buffer.allocUnsafe(Math.min(READ_BYTES, end - position));
    const { bytesRead } = await onDisk(file.read(piece, 0, piece.length, position));
    // The reader was promised so many bytes.
    if (bytesRead === 0) throw new Error('The file became shorter while it was read.');
    position += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

/** True if the folder contains any blob. */
export async function holdsBlobs(folder: string): Promise<boolean> {
  for (const shard of ((await unlessMissing(readdir(folder))) ?? []).filter((name) => SHARD.test(name))) {
    if ((await readdir(join(folder, shard))).some((name) => isBlobKey(name))) return true;
  }
  return false;
}

/** Compares in pieces: the main thread compares one in 0.2 ms, and hashing it would take ten times as long. */
async function hasBytes(file: FileHandle, bytes: Uint8Array): Promise<boolean> {
  const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, bytes.length));
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesRead } = await file.read(piece, 0, piece.length, offset);
    if (bytesRead === 0) return false;
    if (!piece.subarray(0, bytesRead).equals(bytes.subarray(offset, offset + bytesRead))) return false;
    offset += bytesRead;
  }
  return true;
}

export async function unlessMissing<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
