import type { SeenHeartbeat } from '../store/heartbeats.ts';
import { lockInstallation } from '../store/queries/accounts.ts';
import { fenceNode, liveNodes } from '../store/queries/nodes.ts';
import type { Store } from '../store/store.ts';
import type { NodeIdentity } from '../store/this-node.ts';
import { OtherNodes, type OtherNodesOptions } from './other-nodes.ts';
import { insertIdentity, newIdentity } from './register-node.ts';

/**
 * Adds this process to the list of nodes as the only node, because its files are on a disk that is not set as shared. If
 * another node is alive, this start is refused. A node that is silent for the length of a lease is fenced, as any node
 * would fence it. The list changes under the installation's lock: of several concurrent starts, one succeeds.
 */
export async function registerOnlyNode(
  store: Store,
  options: OtherNodesOptions,
  address: string | null,
  closed?: AbortSignal,
): Promise<NodeIdentity> {
  const listed = async () =>
    (await store.reads.all(liveNodes, {})).map((row) => ({ nodeId: row.node_id, beat: row.beat }));
  const others = new OtherNodes(listed, options, closed);
  for (;;) {
    const identity = await enterAlone(store, await others.silent(), address);
    if (identity !== null) return identity;
  }
}

/** Resolves to null if another node has registered since, or has sent a heartbeat again. */
function enterAlone(
  store: Store,
  silent: readonly SeenHeartbeat[],
  address: string | null,
): Promise<NodeIdentity | null> {
  return store.transact('account', async (tx) => {
    await tx.all(lockInstallation, {});
    for (const node of silent) await tx.run(fenceNode, node);
    if ((await tx.all(liveNodes, {})).length > 0) return null;
    const identity = newIdentity();
    await insertIdentity(tx, identity, address);
    return identity;
  });
}
