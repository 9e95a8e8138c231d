import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { asUnavailable } from '../as-unavailable.ts';
import { makeFolder } from '../make-folder.ts';

/** Bytes on their way to a store that needs their length first. */
export interface SpooledBytes extends AsyncDisposable {
  readonly length: number;
  /** In base64. */
  readonly md5: string;
  /** Reads from the beginning each time. */
  readonly bytes: () => Readable;
}

const NAME = /^[0-9a-f]{24}\.spool$/;

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
  async keep(bytes: AsyncIterable<Uint8Array>): Promise<SpooledBytes> {
    const path = join(this.#folder, `${randomBytes(12).toString('hex')}.spool`);
    const remove = () => rm(path, { force: true });
    try {
      const { length, md5 } = await written(path, bytes);
      return { length, md5, bytes: () => createReadStream(path), [Symbol.asyncDispose]: remove };
    } catch (error) {
      await remove();
      throw error;
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

async function written(path: string, bytes: AsyncIterable<Uint8Array>): Promise<{ length: number; md5: string }> {
  const md5 = createHash('md5');
  let length = 0;
  const file = await onDisk(open(path, 'wx', 0o600));
  try {
    for await (const piece of bytes) {
      md5.update(piece);
      await writeAll(file, piece);
      length += piece.length;
    }
  } finally {
    await file.close();
  }
  return { length, md5: md5.digest('base64') };
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await onDisk(file.write(piece, at))).bytesWritten;
}

async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw asUnavailable(error);
  }
}
