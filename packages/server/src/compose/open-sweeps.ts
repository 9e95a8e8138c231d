import { SignInSweep } from '../accounts/sign-in-sweep.ts';
import { BlobSweep } from '../attachments/blob-sweep.ts';
import { AuditSweep } from '../audit/audit-sweep.ts';
import { TransientSweep } from '../chats/transient-sweep.ts';
import { Retention } from '../eventlog/retention.ts';
import { FileSweep } from '../files/file-sweep.ts';
import { NodeSweep } from '../nodes/node-sweep.ts';
import { RollupSweep } from '../runs/rollup-sweep.ts';
import { WebhookSweep } from '../webhooks/webhook-sweep.ts';
import type { Foundation } from './foundation.ts';

/** Opens everything that works through stored data on a timer. Each sweep begins when it is started. */
export function openSweeps(foundation: Foundation) {
  const { store, blobs, pending, settleUploads, sweepDrops, earlierNodes, limits, now, logger, stack } = foundation;
  return {
    events: stack.use(new Retention({ store, earlierNodes, logger }, limits)),
    blobs: stack.use(new BlobSweep({ store, blobs, pending, logger }, limits)),
    files: stack.use(new FileSweep({ store, logger, settleUploads, sweepDrops }, limits)),
    nodes: stack.use(new NodeSweep(store, limits, logger)),
    rollups: stack.use(new RollupSweep(store, limits.sweepMs, logger)),
    transients: stack.use(new TransientSweep(store, limits, logger)),
    webhooks: stack.use(new WebhookSweep(store, limits, now, logger)),
    signIns: stack.use(new SignInSweep(store, limits, logger)),
    audit: stack.use(new AuditSweep(store, limits, now, logger)),
  };
}

export type OpenedSweeps = ReturnType<typeof openSweeps>;
