import type { AgentFiles } from '../agent/files-port.ts';
import type { MountStore } from '../files/mount-store.ts';

/** The mount of one integration: whoever has this can name no other. */
export function mountFiles(mount: Pick<MountStore, 'list' | 'walk' | 'open'>, integrationId: string): AgentFiles {
  return {
    list: (folder, after, limit) => mount.list(integrationId, folder, after, limit),
    walk: (folder) => mount.walk(integrationId, folder),
    open: (path) => mount.open(integrationId, path),
  };
}
