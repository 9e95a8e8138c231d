import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { WaitAt } from '../domain/wait-points.ts';
import { onDisk } from './as-unavailable.ts';

/** Writes a stream to a file. If the stream throws, rejects with that error. */
export async function writePieces(
  file: FileHandle,
  bytes: AsyncIterable<Uint8Array>,
  waitAt?: WaitAt,
): Promise<{ readonly size: number; readonly md5: Buffer }> {
  const md5 = createHash('md5');
  let size = 0;
  for await (const piece of bytes) {
    waitAt?.('upload-bytes.before');
    md5.update(piece);
    for (let at = 0; at < piece.length; ) at += (await onDisk(file.write(piece, at))).bytesWritten;
    size += piece.length;
    waitAt?.('upload-bytes.after');
  }
  return { size, md5: md5.digest() };
}
