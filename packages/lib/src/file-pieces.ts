import type { FileHandle } from 'node:fs/promises';

const READ_BYTES = 256 * 1024;

/** Reads a whole file in pieces, from its beginning each time. */
export async function* filePieces(handle: FileHandle): AsyncGenerator<Uint8Array, void> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Reads a file's first bytes. */
export async function fileStart(handle: FileHandle, bytes: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafe(bytes);
  let size = 0;
  while (size < bytes) {
    const { bytesRead } = await handle.read(buffer, size, bytes - size, size);
    if (bytesRead === 0) break;
    size += bytesRead;
  }
  return buffer.subarray(0, size);
}
