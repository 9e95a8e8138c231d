import { crc32, inflateRawSync } from 'node:zlib';
import { Unreadable } from '../unreadable.ts';
import { readZipDirectory, type ZipEntry } from './zip-directory.ts';

const STORED = 0;
const DEFLATED = 8;
/** The largest compression ratio. The text of documents has about 20, the most repetitive table about 200. */
const MAX_RATIO = 500;
const RATIO_COUNTS_FROM_BYTES = 4 * 1024 * 1024;

const damaged = () => new Unreadable('is damaged: it cannot be unzipped; attach an undamaged copy');

/**
 * Unzips a ZIP file within limits. The declared sizes of all parts must be within them, and a part is never unzipped
 * beyond its declared size.
 */
export class ZipArchive {
  readonly #zip: Buffer;
  readonly #entries: ReadonlyMap<string, ZipEntry>;

  constructor(bytes: Uint8Array, maxUnzippedBytes: number) {
    this.#zip = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const entries = readZipDirectory(this.#zip);
    const unzipped = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    if (unzipped > maxUnzippedBytes) {
      throw new Unreadable(
        `is too large: it unzips to ${unzipped} bytes, and the limit is ${maxUnzippedBytes}; attach a shorter file`,
      );
    }
    const isBomb = entries.some(
      (entry) => entry.bytes > RATIO_COUNTS_FROM_BYTES && entry.bytes > MAX_RATIO * entry.packedBytes,
    );
    if (isBomb)
      throw new Unreadable(
        `is not packed like a document: a part grows more than ${MAX_RATIO} times when it is unzipped`,
      );
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
  }

  get names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** Returns null if the part does not exist. */
  read(name: string): Buffer | null {
    const entry = this.#entries.get(name);
    if (entry === undefined) return null;
    const packed = this.#zip.subarray(entry.start, entry.start + entry.packedBytes);
    const bytes = entry.method === STORED ? packed : inflate(packed, entry);
    if (bytes.length !== entry.bytes || crc32(bytes) !== entry.crc) throw damaged();
    return bytes;
  }
}

function inflate(packed: Buffer, { method, bytes }: ZipEntry): Buffer {
  if (method !== DEFLATED) throw damaged();
  if (bytes === 0) return Buffer.alloc(0);
  try {
    return inflateRawSync(packed, { maxOutputLength: bytes });
  } catch {
    throw damaged();
  }
}
