import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListedFile } from './manifest.ts';
import type { Lines } from './ports.ts';

export const BLOB_LIST = 'blobs.jsonl';
export const MISSING_LIST = 'missing-blobs.jsonl';
export const SECRET_FILE = 'secret';
export const TABLES_FOLDER = 'tables';
export const tableFile = (table: string) => join(TABLES_FOLDER, `${table}.jsonl`);
export const blobFolder = (folder: string) => join(folder, 'blobs');

/** A write's size: one of 32 KiB costs twice the CPU per byte. */
const WRITE_BYTES = 1024 * 1024;
const LF = 10;

/** Writes a file of JSON lines. Only its owner may read it, because it contains texts of users. */
export class LinesFile {
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');
  readonly #unwritten = Buffer.allocUnsafeSlow(WRITE_BYTES);
  #unwrittenBytes = 0;
  #lines = 0;
  #bytes = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async create(path: string): Promise<LinesFile> {
    return new LinesFile(await open(path, 'wx', 0o600));
  }

  async add(values: readonly unknown[]): Promise<void> {
    if (values.length === 0) return;
    const text = values.map((value) => JSON.stringify(value)).join('\n');
    await this.addLines({ bytes: Buffer.from(text), count: values.length });
  }

  async addLines({ bytes, count }: Lines): Promise<void> {
    this.#lines += count;
    // One byte more for the line break.
    if (this.#unwrittenBytes + bytes.length >= WRITE_BYTES) await this.#flush();
    if (bytes.length >= WRITE_BYTES) await this.#write(bytes);
    else {
      this.#unwritten.set(bytes, this.#unwrittenBytes);
      this.#unwrittenBytes += bytes.length;
    }
    this.#unwritten[this.#unwrittenBytes] = LF;
    this.#unwrittenBytes += 1;
  }

  async #flush(): Promise<void> {
    await this.#write(this.#unwritten.subarray(0, this.#unwrittenBytes));
    this.#unwrittenBytes = 0;
  }

  async #write(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    await this.#file.writeFile(bytes);
  }

  /** Syncs and closes the file. */
  async finish(): Promise<ListedFile> {
    await this.#flush();
    await this.#file.sync();
    await this.#file.close();
    return { lines: this.#lines, bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  async abandon(): Promise<void> {
    await this.#file.close();
  }
}

/** True if the file has the listed size and checksum. */
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

/**
 * Reads a file's values in batches. It splits lines only at LF: `readline` also splits at U+2028, which JSON does
 * not escape.
 */
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
