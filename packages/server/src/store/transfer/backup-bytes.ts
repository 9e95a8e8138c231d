import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../lib/durable-files.ts';

const SHA256 = /^[0-9a-f]{64}$/;
const DRAFTS = 'drafts';

/** Bytes that are written and have no final name yet. Disposing the draft deletes them, unless they were named. */
export interface BytesDraft extends AsyncDisposable {
  readonly size: number;
  readonly sha256: string;
  keep(): Promise<void>;
}

/**
 * The bytes of files in a backup, named by their hashes. The file names of users may be invalid on another file system,
 * and equal files are stored once.
 */
export class BackupBytes {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Throws what `bytes` throws, and deletes the draft. */
  async draft(bytes: AsyncIterable<Uint8Array>): Promise<BytesDraft> {
    const path = join(this.#folder, DRAFTS, randomBytes(12).toString('hex'));
    await mkdir(join(this.#folder, DRAFTS), { recursive: true, mode: 0o700 });
    const hash = createHash('sha256');
    let size = 0;
    const drop = () => rm(path, { force: true });
    try {
      await using file = await open(path, 'wx', 0o600);
      for await (const piece of bytes) {
        hash.update(piece);
        size += piece.length;
        await file.writeFile(piece);
      }
      await file.sync();
    } catch (error) {
      await drop();
      throw error;
    }
    const sha256 = hash.digest('hex');
    const keep = async () => {
      await mkdir(this.#shard(sha256), { recursive: true, mode: 0o700 });
      await rename(path, this.#path(sha256));
    };
    return { size, sha256, keep, [Symbol.asyncDispose]: drop };
  }

  /** Syncs everything that was stored. */
  async finish(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await rm(join(this.#folder, DRAFTS), { recursive: true, force: true });
    for (const shard of await readdir(this.#folder)) await syncFolder(join(this.#folder, shard));
    await syncFolder(this.#folder);
  }

  read(sha256: string): AsyncIterable<Uint8Array> {
    return opened(this.#path(sha256));
  }

  #shard(sha256: string): string {
    // The hash becomes a path, so no other text may pass.
    if (!SHA256.test(sha256)) throw new Error(`\`${sha256}\` is not the hash of a file.`);
    return join(this.#folder, sha256.slice(0, 2));
  }

  #path(sha256: string): string {
    return join(this.#shard(sha256), sha256);
  }
}

/** Opens the file at the first read. An error before that would have no handler. */
async function* opened(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path);
}
