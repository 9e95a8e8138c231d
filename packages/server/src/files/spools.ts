import type { Readable } from 'node:stream';

/** Bytes on their way to a store that wants to know their length first. */
export interface SpooledBytes extends AsyncDisposable {
  readonly length: number;
  /** In base64. */
  readonly md5: string;
  /** From the beginning, each time. */
  readonly bytes: () => Readable;
}

export interface Spools {
  /** If `bytes` throws, rejects with that error and stores nothing. Disposing the result releases the bytes. */
  keep(bytes: AsyncIterable<Uint8Array>): Promise<SpooledBytes>;
  /** What processes that died have left; resolves to how many were as old. */
  sweep(until: number): Promise<number>;
}
