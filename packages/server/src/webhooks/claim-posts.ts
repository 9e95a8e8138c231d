import { newId } from '../domain/ids.ts';
import { claimEnd, firstClaimEnd } from '../domain/webhook.ts';
import {
  claimDeliveries,
  claimedDeliveries,
  deleteEventless,
  endpointToPost,
  lockEndpoint,
} from '../store/queries/webhook-claims.ts';
import { first, type StoreKind, type Tx } from '../store/store.ts';
import { POSTS_PER_ENDPOINT, type SlotShare } from './delivery-slots.ts';
import type { Post } from './record-attempts.ts';
import { skipSome } from './skip-pending.ts';

/** Claims due deliveries of an endpoint, at most one for each slot. */
export async function claimPosts(
  tx: Tx,
  kind: StoreKind,
  { endpointId, holds }: SlotShare,
  now: number,
): Promise<Post[]> {
  // With the lock, the posts that all nodes have under way are counted exactly.
  const locked = await tx.all(lockEndpoint, { endpointId });
  if (kind === 'postgres' && locked.length === 0) return [];
  const endpoint = await first(tx.all(endpointToPost, { endpointId, firstClaimEnd: firstClaimEnd(now) }));
  if (endpoint === undefined) return [];
  const { url } = endpoint;
  if (url === null || endpoint.active === 0) {
    await skipSome(tx, endpointId, now);
    return [];
  }
  const limit = Math.min(holds.length, POSTS_PER_ENDPOINT - Number(endpoint.posting));
  if (limit <= 0) return [];
  const claimId = newId('claim');
  const until = claimEnd(now);
  const claimed = await tx.run(claimDeliveries, { endpointId, claimId, now, until, limit });
  const rows = await tx.all(claimedDeliveries, { endpointId, claimId, until });
  // A replay made them while an erasure deleted their events.
  if (rows.length < claimed) await tx.run(deleteEventless, { endpointId, claimId, until });
  return rows.flatMap((delivery, index) => {
    const hold = holds[index];
    return hold === undefined ? [] : [{ endpoint: { ...endpoint, url }, delivery, claimId, hold }];
  });
}
