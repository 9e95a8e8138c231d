import type { FileHandle } from 'node:fs/promises';
import { asUnavailable } from '../../storage/disk/as-unavailable.ts';
import type { ByteRange } from '../mount-store.ts';

const PIECE_BYTES = 256 * 1024;

/** The bytes of an open file that had this size when it was opened. */
export async function* readPieces(handle: FileHandle, size: number, range?: ByteRange): AsyncIterable<Uint8Array> {
  const end = Math.min(size, (range?.last ?? size) + 1);
  for (let position = range?.first ?? 0; position < end; ) {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, end - position));
    const { bytesRead } = await handle.read(piece, 0, piece.length, position).catch((error: unknown) => {
      throw asUnavailable(error);
    });
    // Who promised so many bytes must be told.
    if (bytesRead === 0) throw new Error('The file became shorter while it was read.');
    position += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}
