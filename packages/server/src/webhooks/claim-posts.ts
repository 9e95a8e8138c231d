import { newId } from '../domain/ids.ts';
import { claimEnd, firstClaimEnd } from '../domain/webhook.ts';
import {
  claimDelivery,
  deleteDelivery,
  dueDeliveries,
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
  const due = await tx.all(dueDeliveries, { endpointId, now, limit });
  const claims = due.map(async ({ body_json: body, ...delivery }, index): Promise<Post[]> => {
    const { delivery_id: deliveryId } = delivery;
    const hold = holds[index];
    if (body === null) {
      // A replay made it while an erasure deleted its event.
      await tx.run(deleteDelivery, { deliveryId });
      return [];
    }
    // An erasure has deleted it since the line above if no row is changed.
    const isClaimed = (await tx.run(claimDelivery, { deliveryId, claimId, until })) === 1;
    return isClaimed && hold !== undefined
      ? [{ endpoint: { ...endpoint, url }, delivery: { ...delivery, body_json: body }, claimId, hold }]
      : [];
  });
  return (await Promise.all(claims)).flat();
}
