import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { mountStoreConformance } from '../../testing/mount-store-conformance.ts';
import { temporaryFolder } from '../../testing/test-server.ts';
import { DiskMountStore } from './disk-mount-store.ts';
import { byHandle, byPath } from './reach.ts';

for (const [name, reach] of Object.entries({ disk: byHandle, 'disk by paths': byPath })) {
  mountStoreConformance(name, async () => {
    const folder = temporaryFolder();
    return {
      open: () => DiskMountStore.open({ folder: join(folder, 'mounts'), waitAt: undefined, reach }),
      cleanUp: async () => rmSync(folder, { recursive: true }),
    };
  });
}
