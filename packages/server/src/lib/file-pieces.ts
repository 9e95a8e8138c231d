import type { FileHandle } from 'node:fs/promises';

const READ_BYTES = 256 * 1024;

/** Reads a whole file in pieces, from its beginning each time. */
export async function* filePieces(handle: FileHandle): AsyncGenerator<Uint8Array, void> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Reads the first bytes of a file. */
export async function fileStart(handle: FileHandle, bytes: number): Promise<Uint8Array> {
  const buffer = Buffer.alloc(bytes);
  const { bytesRead } = await handle.read(buffer, 0, bytes, 0);
  return buffer.subarray(0, bytesRead);
}
