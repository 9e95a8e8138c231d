import { BlobSweep } from '../attachments/blob-sweep.ts';
import { Retention } from '../eventlog/retention.ts';
import { FormSweep } from '../files/form-sweep.ts';
import { MountSweep } from '../files/mount-sweep.ts';
import { NodeSweep } from '../nodes/node-sweep.ts';
import type { Foundation } from './foundation.ts';

/** Opens everything that deletes old data on a timer. Each sweep begins when it is started. */
export function openSweeps({ store, blobs, mount, limits, logger, stack }: Foundation) {
  return {
    events: stack.use(new Retention(store, limits, logger)),
    blobs: stack.use(new BlobSweep(store, blobs, limits, logger)),
    mounts: stack.use(new MountSweep(store, mount, limits, logger)),
    nodes: stack.use(new NodeSweep(store, limits, logger)),
    forms: stack.use(new FormSweep(store, limits, logger)),
  };
}

export type OpenedSweeps = ReturnType<typeof openSweeps>;
