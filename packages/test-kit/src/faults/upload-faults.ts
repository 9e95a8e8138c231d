import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { writing } from '../hook-blobs.ts';

/** The last piece of a file lacks its last byte. */
export function loseAByte(): Overrides {
  const allBut = async function* (bytes: AsyncIterable<Uint8Array>) {
    let last: Uint8Array | null = null;
    for await (const piece of bytes) {
      if (last !== null) yield last;
      last = piece;
    }
    if (last !== null) yield last.subarray(0, -1);
  };
  return { wrapBlobs: writing((write) => (key, bytes) => write(key, allBut(bytes))) };
}

/** Every file is in memory completely before its first byte is stored. */
export function holdFiles(): Overrides {
  const held = async function* (bytes: AsyncIterable<Uint8Array>) {
    const all: Uint8Array[] = [];
    for await (const piece of bytes) all.push(Buffer.from(piece));
    yield* all;
  };
  return { wrapBlobs: writing((write) => (key, bytes) => write(key, held(bytes))) };
}

/** A blob is written under its name immediately, and nothing is synced. */
export function writePlainly(): Overrides {
  const plainly = async (key: string, bytes: AsyncIterable<Uint8Array>) => {
    const folder = join(String(process.env.RUNWIRE_DATA_DIR), 'blobs', key.slice(0, 2));
    const whole = Buffer.concat(await Array.fromAsync(bytes));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, key), whole);
    return { size: whole.length, md5: createHash('md5').update(whole).digest('hex') };
  };
  return { wrapBlobs: writing(() => plainly) };
}
