import type { MountPath } from '../domain/mount-path.ts';
import type { MountStore } from './mount-store.ts';

/** Checks that the files of a message were uploaded. */
export class SandboxFiles {
  readonly #mount: Pick<MountStore, 'find'>;

  constructor(mount: Pick<MountStore, 'find'>) {
    this.#mount = mount;
  }

  /** Resolves to null if all files exist. */
  async firstMissing(integrationId: string, paths: readonly MountPath[]): Promise<MountPath | null> {
    const found = await Promise.all(paths.map((path) => this.#mount.find(integrationId, path)));
    return paths.find((_, index) => found[index] === null) ?? null;
  }
}
