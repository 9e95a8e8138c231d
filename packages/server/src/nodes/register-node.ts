import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { newId } from '../domain/ids.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import { VERSION } from '../domain/version.ts';
import {
  insertHeartbeat,
  insertNode,
  markOtherNodesDead,
  releaseNode,
  setNodeAddress,
} from '../store/queries/nodes.ts';
import type { Store, Tx } from '../store/store.ts';
import type { NodeIdentity, ThisNode } from '../store/this-node.ts';
import type { Logger } from '../telemetry/logger.ts';

/**
 * Adds this process to the list of nodes. `address` is null before it listens. If `isAlone`, the store has one node, so
 * all others that are listed are dead.
 */
export async function registerNode(store: Store, isAlone: boolean, address: string | null): Promise<NodeIdentity> {
  const identity = newIdentity();
  await store.transact('account', async (tx) => {
    await insertIdentity(tx, identity, address);
    if (isAlone) await tx.run(markOtherNodesDead, { nodeId: identity.nodeId });
  });
  return identity;
}

const newIdentity = (): NodeIdentity => ({ nodeId: newId('node'), boot: randomBytes(4).toString('hex') });

async function insertIdentity(tx: Tx, { nodeId, boot }: NodeIdentity, address: string | null): Promise<void> {
  const now = Date.now();
  await tx.run(insertNode, { node_id: nodeId, boot, version: VERSION, started_at: now, host: hostname(), address });
  await tx.run(insertHeartbeat, { node_id: nodeId, seen_at: now });
}

/** Stores the address after the server listens. A node registers before that, when port 0 has no number yet. */
export async function storeNodeAddress(store: Store, { identity }: ThisNode, address: string): Promise<void> {
  if (identity === null) return;
  await store.transact('account', (tx) => tx.run(setNodeAddress, { nodeId: identity.nodeId, address }));
}

/** Stores that this node stopped as asked, so that the runs that it leaves unfinished do not count as crashed. */
export async function releaseThisNode(store: Store, node: ThisNode, logger: Logger): Promise<void> {
  if (node.identity === null) return;
  const { nodeId } = node;
  try {
    await store.transact('account', (tx) => tx.run(releaseNode, { nodeId }));
  } catch (error) {
    // An outage needs no stack: the reason is in the message.
    const details = error instanceof StoreUnavailable ? { reason: error.message } : { err: error };
    logger.warn(details, 'this stop could not be stored; other nodes will treat it as a crash');
  }
}
