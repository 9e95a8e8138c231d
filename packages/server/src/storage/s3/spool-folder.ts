import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { onDisk } from '../as-unavailable.ts';
import type { BlobKey } from '../blob-store.ts';
import { makeFolder } from '../make-folder.ts';
import { writePieces } from '../write-pieces.ts';

/** Bytes on their way to a store that needs their length first. */
export interface SpooledBytes extends AsyncDisposable {
  readonly length: number;
  /** In base64. */
  readonly md5: string;
  /** Reads from the beginning each time. */
  readonly bytes: () => Readable;
}

const NAME = /^[0-9a-f-]+(?:\.[0-9a-f]{12})?\.spool$/;

/** A folder of this machine for uploads in progress. The sweep deletes what a process that died left there. */
export class SpoolFolder {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(folder: string): Promise<SpoolFolder> {
    await makeFolder(folder, 'uploads');
    return new SpoolFolder(folder);
  }

  /** If `bytes` throws, rejects with that error and stores nothing. Disposing the result deletes the bytes. */
  async keep(key: BlobKey, bytes: AsyncIterable<Uint8Array>): Promise<SpooledBytes> {
    const path = join(this.#folder, `${key}.${randomBytes(6).toString('hex')}.spool`);
    const remove = () => rm(path, { force: true });
    try {
      await using file = await onDisk(open(path, 'wx', 0o600));
      const { size, md5 } = await writePieces(file, bytes);
      const content = { length: size, md5: md5.toString('base64'), bytes: () => createReadStream(path) };
      return { ...content, [Symbol.asyncDispose]: remove };
    } catch (error) {
      await remove();
      throw error;
    }
  }

  /** Deletes this blob's spools. */
  async delete(key: BlobKey): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      if (NAME.test(name) && name.startsWith(`${key}.`)) await rm(join(this.#folder, name), { force: true });
    }
  }

  /** Deletes spools that were last written before `until`. Resolves to their number. */
  async sweep(until: number): Promise<number> {
    let count = 0;
    for (const name of (await readdir(this.#folder)).filter((one) => NAME.test(one))) {
      const path = join(this.#folder, name);
      const known = await stat(path).catch(() => null);
      if (known === null || known.mtimeMs > until) continue;
      await rm(path, { force: true });
      count += 1;
    }
    return count;
  }
}
