import { join } from 'node:path';
import { DiskMountStore } from '@runwire/server/src/files/disk/disk-mount-store.ts';
import type { MountStore } from '@runwire/server/src/files/mount-store.ts';

/** The mounts of a data folder, beside the servers that use it. */
export function openTestMount(dataDir: string): Promise<MountStore> {
  return DiskMountStore.open({ folder: join(dataDir, 'mounts'), waitAt: undefined });
}

/** Writes a file from memory. */
export async function putFile(
  mount: MountStore,
  integrationId: string,
  path: string,
  bytes: string | Uint8Array,
  contentType = 'text/plain',
): Promise<void> {
  await mount.write(integrationId, path, contentType, pieces(Buffer.from(bytes)));
}

const PIECE_BYTES = 64 * 1024;

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) yield bytes.subarray(start, start + PIECE_BYTES);
}

/** Whole, with its type; null: it is not there. */
async function readFileOf(mount: MountStore, integrationId: string, path: string) {
  await using opened = await mount.open(integrationId, path);
  if (opened === null) return null;
  const all: Uint8Array[] = [];
  for await (const piece of opened.bytes) all.push(piece);
  return { contentType: opened.file.contentType, bytes: Buffer.concat(all) };
}

/** By path, all files of an integration. */
export async function filesOf(mount: MountStore, integrationId: string) {
  const files = new Map<string, { readonly contentType: string; readonly bytes: Buffer }>();
  for await (const { path } of mount.walk(integrationId, '')) {
    const file = await readFileOf(mount, integrationId, path);
    if (file !== null) files.set(path, file);
  }
  return files;
}
