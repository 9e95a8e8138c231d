import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListedFile } from './manifest.ts';

export const BLOB_LIST = 'blob-keys.jsonl';
export const MISSING_LIST = 'missing-images.jsonl';
export const MOUNT_LIST = 'mount.jsonl';
/** Files that could not be taken along, or never stood still. */
export const ODD_FILES_LIST = 'odd-files.jsonl';
export const SECRET_FILE = 'secret';
export const TABLES_FOLDER = 'tables';
export const tableFile = (table: string) => join(TABLES_FOLDER, `${table}.jsonl`);
export const blobFolder = (folder: string) => join(folder, 'blobs');
export const mountFolder = (folder: string) => join(folder, 'mount');

/** A file of JSON lines that is being written: readable by its owner alone, as it holds what people said. */
export class LinesFile {
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');
  #lines = 0;
  #bytes = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async create(path: string): Promise<LinesFile> {
    return new LinesFile(await open(path, 'wx', 0o600));
  }

  async add(values: readonly unknown[]): Promise<void> {
    const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
    this.#hash.update(bytes);
    this.#lines += values.length;
    this.#bytes += bytes.length;
    await this.#file.writeFile(bytes);
  }

  /** Durable, and closed. */
  async finish(): Promise<ListedFile> {
    await this.#file.sync();
    await this.#file.close();
    return { lines: this.#lines, bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  async abandon(): Promise<void> {
    await this.#file.close();
  }
}

/** Whether the file is the one that was listed. */
export async function isWhole(path: string, listed: ListedFile): Promise<boolean> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const piece of createReadStream(path)) {
      hash.update(piece as Buffer);
      bytes += (piece as Buffer).length;
    }
  } catch {
    return false;
  }
  return bytes === listed.bytes && hash.digest('hex') === listed.sha256;
}

const LF = 10;

/** The values of a file, a few at a time. By LF alone: `readline` ends lines at U+2028 too, which JSON leaves as it is. */
export async function* readLines<T>(path: string, batchLines: number): AsyncGenerator<T[]> {
  let batch: T[] = [];
  let line: Buffer[] = [];
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = piece.indexOf(LF); end !== -1; end = piece.indexOf(LF, start)) {
      line.push(piece.subarray(start, end));
      batch.push(JSON.parse(Buffer.concat(line).toString()) as T);
      line = [];
      start = end + 1;
      if (batch.length < batchLines) continue;
      yield batch;
      batch = [];
    }
    line.push(piece.subarray(start));
  }
  if (batch.length > 0) yield batch;
}
