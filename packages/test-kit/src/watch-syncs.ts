import { readlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { TestContext } from 'node:test';

/** Records which paths are synced. `hold` delays a path's sync. The syncs themselves are real. */
export async function watchSyncs(t: TestContext, hold: (path: string) => Promise<void> | undefined) {
  const file = await open('/dev/null');
  const prototype = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
  const synced: string[] = [];
  const original = prototype.sync;
  t.mock.method(prototype, 'sync', async function (this: FileHandle) {
    const path = readlinkSync(`/proc/self/fd/${this.fd}`);
    await hold(path);
    await original.call(this);
    synced.push(path);
  });
  return synced;
}
