import { randomBytes } from 'node:crypto';
import { newId } from '../domain/ids.ts';
import { VERSION } from '../domain/version.ts';
import { insertBeat, insertNode, markOtherNodesDead, releaseNode } from '../store/queries/nodes.ts';
import type { Store, Tx } from '../store/store.ts';
import type { NodeIdentity, ThisNode } from '../store/this-node.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Puts this process on the list of nodes. `isAlone`: whoever else stands there is dead. */
export async function registerNode(store: Store, isAlone: boolean): Promise<NodeIdentity> {
  const identity = newIdentity();
  await store.transact('account', async (tx) => {
    await insertIdentity(tx, identity);
    if (isAlone) await tx.run(markOtherNodesDead, { nodeId: identity.nodeId });
  });
  return identity;
}

export const newIdentity = (): NodeIdentity => ({ nodeId: newId('node'), boot: randomBytes(4).toString('hex') });

export async function insertIdentity(tx: Tx, { nodeId, boot }: NodeIdentity): Promise<void> {
  const now = Date.now();
  await tx.run(insertNode, { nodeId, boot, version: VERSION, now });
  await tx.run(insertBeat, { nodeId, now });
}

/** A stop in good order: the runs that it leaves unfinished did not crash. */
export async function releaseThisNode(store: Store, node: ThisNode, logger: Logger): Promise<void> {
  if (node.identity === null) return;
  const { nodeId } = node;
  try {
    await store.transact('account', (tx) => tx.run(releaseNode, { nodeId }));
  } catch (error) {
    logger.warn({ err: error }, 'this stop could not be noted; the next start takes it for a crash');
  }
}
