import { mkdir } from 'node:fs/promises';
import { StartRefused } from '../domain/start-refused.ts';

/**
 * Makes a folder, and the folders above it, that only the owner may use. If this or the next step `then` fails, the
 * start is refused.
 */
export async function makeFolder(path: string, of: 'files' | 'uploads', then = async () => {}): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await then();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartRefused(`The folder for ${of} cannot be created (${reason}); fix that in the data folder.`, {
      cause: error,
    });
  }
}
