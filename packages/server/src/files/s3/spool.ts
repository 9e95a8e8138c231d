import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StartRefused } from '../../domain/start-refused.ts';
import { StoreUnavailable } from '../../domain/unavailable.ts';

const NAME = /^[0-9a-f]{24}\.spool$/;
/** What passes by itself, or when somebody makes room. */
const NOT_NOW: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/** Bytes on their way to S3, which wants to know their length first. */
export interface Spooled extends AsyncDisposable {
  readonly length: number;
  /** In base64. */
  readonly md5: string;
  readonly bytes: () => ReturnType<typeof createReadStream>;
}

/** A folder of this machine for such files. Nothing in it counts: what a process that died has left is swept. */
export class SpoolFolder {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(folder: string): Promise<SpoolFolder> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new StartRefused(`The folder for uploads cannot be made (${reason}); make room for it in the data folder.`);
    }
    return new SpoolFolder(folder);
  }

  /** Where `bytes` throws, that is thrown on and nothing stays. */
  async keep(bytes: AsyncIterable<Uint8Array>): Promise<Spooled> {
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

  /** Resolves to how many were older. */
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
    const { code } = error as NodeJS.ErrnoException;
    if (!NOT_NOW.has(code)) throw error;
    throw new StoreUnavailable(`An upload cannot be kept on its way to S3: ${code}.`, { cause: error });
  }
}
