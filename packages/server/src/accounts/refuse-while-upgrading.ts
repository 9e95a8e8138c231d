import { Refusal } from '../domain/refusal.ts';
import type { EarlierNodes } from '../store/earlier-nodes.ts';

const RETRY_SECONDS = 60;

/** A node of the version before would let a restricted person or key do everything of the owner. */
export function refuseWhileUpgrading(earlierNodes: EarlierNodes): void {
  if (!earlierNodes.areAlive()) return;
  const sentence =
    'People and keys with less than all rights can be made when no node of the version before runs any more: such a node would not restrict them.';
  throw new Refusal('unavailable', sentence, {}, RETRY_SECONDS);
}
