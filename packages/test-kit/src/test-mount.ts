import type { AgentFiles } from '@runwire/server/src/agent/files-port.ts';
import { dataFolder } from '@runwire/server/src/config/data-folder.ts';
import { checkFilePath } from '@runwire/server/src/domain/mount-path.ts';
import { DiskMountStore } from '@runwire/server/src/files/disk/disk-mount-store.ts';
import type { MountStore } from '@runwire/server/src/files/mount-store.ts';
import { mountFiles } from '@runwire/server/src/sandbox/mount-files.ts';

/** The mounts of an installation on disk, beside its server. */
export class TestMount {
  readonly store: MountStore;

  private constructor(store: MountStore) {
    this.store = store;
  }

  static async in(dataDir: string): Promise<TestMount> {
    return new TestMount(await DiskMountStore.open({ folder: dataFolder(dataDir).mounts, waitAt: undefined }));
  }

  /** `path` is whole. */
  async put(
    integrationId: string,
    path: string,
    bytes: string | Uint8Array,
    contentType = 'text/plain',
  ): Promise<void> {
    const pieces = async function* () {
      yield typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    };
    await this.store.write(integrationId, below(path), contentType, pieces());
  }

  async delete(integrationId: string, path: string): Promise<void> {
    if (!(await this.store.delete(integrationId, below(path)))) throw new Error(`There is no ${path}.`);
  }

  /** As the tools of a run see them. */
  files(integrationId: string): AgentFiles {
    return mountFiles(this.store, integrationId);
  }
}

function below(path: string): string {
  const checked = checkFilePath(path);
  if ('problem' in checked) throw new Error(`${path} ${checked.problem}.`);
  return checked.below;
}
