import type { SeenBeat } from '../store/node-beats.ts';
import { lockInstallation } from '../store/queries/accounts.ts';
import { fenceNode, liveNodes } from '../store/queries/nodes.ts';
import type { Store } from '../store/store.ts';
import type { NodeIdentity } from '../store/this-node.ts';
import { OtherNodes, type OtherNodesOptions } from './other-nodes.ts';
import { insertIdentity, newIdentity } from './register-node.ts';

/**
 * Puts this process on the list of nodes where no other may stand on it: files are on a disk that nobody said is shared.
 * One that lives has this start refused; one that is silent for the length of a lease is fenced, as any node would fence
 * it. Who is listed is decided under the installation's lock: of several that start at once, one comes in.
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

/** Null: somebody else is there by now, or has beaten after all. */
function enterAlone(store: Store, silent: readonly SeenBeat[], address: string | null): Promise<NodeIdentity | null> {
  return store.transact('account', async (tx) => {
    await tx.all(lockInstallation, {});
    for (const node of silent) await tx.run(fenceNode, node);
    if ((await tx.all(liveNodes, {})).length > 0) return null;
    const identity = newIdentity();
    await insertIdentity(tx, identity, address);
    return identity;
  });
}
