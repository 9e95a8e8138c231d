import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expectEqual } from '../proof.ts';

/** The mounts of a server on a disk, as they lie there. */
export class StoredFiles {
  readonly #mounts: string;

  constructor(dataDir: string) {
    this.#mounts = join(dataDir, 'mounts');
  }

  /** Whole files and drafts of all integrations, each with its path from the mounts on. */
  names(): string[] {
    const read = () => readdirSync(this.#mounts, { recursive: true, withFileTypes: true });
    return read()
      .filter((entry) => entry.isFile())
      .map((entry) => relative(this.#mounts, join(entry.parentPath, entry.name)))
      .filter((name) => name.split('/')[1] !== 'about')
      .sort();
  }

  /** Throws a `Shortfall` unless there is this one file, or none where it is null; then forgets all. */
  expect(id: string, file: { readonly bucket: string; readonly key: string; readonly bytes: Buffer } | null): void {
    expectEqual(`${id}: stored`, this.names(), file === null ? [] : [`${file.bucket}/files/${file.key}`]);
    if (file !== null) {
      const bytes = readFileSync(join(this.#mounts, file.bucket, 'files', file.key));
      expectEqual(`${id}: bytes are those sent`, bytes.equals(file.bytes), true);
    }
    this.clear();
  }

  clear(): void {
    for (const name of readdirSync(this.#mounts)) rmSync(join(this.#mounts, name), { recursive: true, force: true });
  }
}
