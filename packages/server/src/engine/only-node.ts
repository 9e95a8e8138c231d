import { setTimeout as sleep } from 'node:timers/promises';
import { StartRefused } from '../domain/start-refused.ts';
import { monotonicMs } from '../lib/monotonic.ts';
import { BeatWatch } from '../store/beat-watch.ts';
import type { SeenBeat } from '../store/node-beats.ts';
import { lockInstallation } from '../store/queries/accounts.ts';
import { fenceNode, liveNodes } from '../store/queries/nodes.ts';
import type { Store } from '../store/store.ts';
import type { NodeIdentity } from '../store/this-node.ts';
import type { Logger } from '../telemetry/logger.ts';
import { insertIdentity, newIdentity } from './register-node.ts';

export interface OnlyNodeOptions {
  readonly leaseMs: number;
  readonly beatMs: number;
  readonly logger: Logger;
}

/**
 * Puts this process on the list of nodes where no other may stand on it: files are on a disk that nobody said is shared.
 * One that is listed as alive may have crashed a moment ago, so its beat is watched: raised, it lives, and this start is
 * refused; unchanged for the length of a lease, it is fenced, as any node would fence it. Who is listed is decided under
 * the installation's lock: of several that start at once, one comes in.
 */
export async function registerOnlyNode(
  store: Store,
  options: OnlyNodeOptions,
  closed?: AbortSignal,
): Promise<NodeIdentity> {
  const { leaseMs, beatMs, logger } = options;
  const watch = new BeatWatch(leaseMs, (leaseMs * 3) / 8);
  const firstBeats = new Map<string, number>();
  for (;;) {
    const askedAt = monotonicMs();
    const others = (await store.reads.all(liveNodes, {})).map((row) => ({ nodeId: row.node_id, beat: row.beat }));
    for (const { nodeId, beat } of others) {
      // Of a version that does not beat, nobody can tell.
      if (beat === null) throw anotherNode(nodeId);
      if (!firstBeats.has(nodeId)) {
        firstBeats.set(nodeId, beat);
        logger.info({ nodeId }, 'another node is listed as alive; waiting to see whether it is');
      }
      if (firstBeats.get(nodeId) !== beat) throw anotherNode(nodeId);
    }
    const silent = watch.observe(askedAt, monotonicMs(), others as readonly SeenBeat[]);
    if (silent.length === others.length) {
      const identity = await enterAlone(store, silent);
      if (identity !== null) return identity;
    }
    await sleep(beatMs / 4, undefined, closed === undefined ? {} : { signal: closed });
  }
}

/** Null: somebody else is there by now, or has beaten after all. */
function enterAlone(store: Store, silent: readonly SeenBeat[]): Promise<NodeIdentity | null> {
  return store.transact('account', async (tx) => {
    await tx.all(lockInstallation, {});
    for (const node of silent) await tx.run(fenceNode, node);
    if ((await tx.all(liveNodes, {})).length > 0) return null;
    const identity = newIdentity();
    await insertIdentity(tx, identity);
    return identity;
  });
}

function anotherNode(nodeId: string): StartRefused {
  return new StartRefused(
    `Another node of this installation is running (${nodeId}), and files are kept on a disk; set RUNWIRE_SHARED_DISK=true on all nodes where RUNWIRE_DATA_DIR is one disk that they share, or keep files on S3, or stop that node first.`,
  );
}
