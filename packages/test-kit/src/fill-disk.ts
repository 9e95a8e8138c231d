import { closeSync, openSync, writeSync } from 'node:fs';

const LARGEST_BYTES = 1024 * 1024;

/** Writes this file until its disk has no space for another byte. */
export function fillDisk(file: string): void {
  const handle = openSync(file, 'a');
  try {
    for (let size = LARGEST_BYTES; size >= 1; size /= 2) writeUntilFull(handle, Buffer.alloc(size));
  } finally {
    closeSync(handle);
  }
}

function writeUntilFull(handle: number, bytes: Buffer): void {
  try {
    for (;;) writeSync(handle, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
