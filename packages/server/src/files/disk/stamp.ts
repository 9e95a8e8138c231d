import type { FileHandle } from 'node:fs/promises';

/**
 * Moves a file's time of change by a little that hardly any other gets: a kernel's clock stands still for milliseconds, in
 * which several files are written. Durable with the next sync.
 */
export async function stamp(file: FileHandle, withinMs = 1): Promise<void> {
  const { atimeMs, mtimeMs } = await file.stat();
  await file.utimes(atimeMs / 1000, (mtimeMs + Math.random() * withinMs) / 1000);
}
