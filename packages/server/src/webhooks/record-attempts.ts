import type { Hold } from '@runwire/lib/fair-budget.ts';
import {
  type ClaimedRow,
  disableEndpoint,
  type EndpointToPost,
  lockEndpoints,
  noteFailure,
  noteSuccess,
  recordAttempt,
  releaseClaim,
} from '../store/queries/webhook-claims.ts';
import type { StoreKind, Tx } from '../store/store.ts';
import { FAILING_MS, nextAttemptAt } from './attempt-schedule.ts';
import type { AttemptOutcome } from './post-event.ts';
import { skipSome } from './skip-pending.ts';

/** A claimed delivery that this node posts. */
export interface Post {
  readonly endpoint: EndpointToPost & { readonly url: string };
  readonly delivery: ClaimedRow;
  readonly claimId: string;
  readonly hold: Hold;
}

export interface FinishedPost {
  readonly post: Post;
  /** Null if this server stopped before the answer: another node posts it again. */
  readonly outcome: AttemptOutcome | null;
}

/** What became of the deliveries and endpoints, for the metrics. */
export interface RecordedChanges {
  readonly outcomes: readonly ('delivered' | 'retried' | 'failed')[];
  /** The endpoints that were disabled. They may have pending deliveries left. */
  readonly disabled: readonly string[];
}

/**
 * Stores the outcomes of posts. A node whose claim has ended changes nothing: another node has claimed the delivery. The
 * endpoints are locked before their deliveries, in the order of other changes.
 */
export async function recordAttempts(
  tx: Tx,
  kind: StoreKind,
  finished: readonly FinishedPost[],
  now: number,
): Promise<RecordedChanges> {
  const outcomes: RecordedChanges['outcomes'][number][] = [];
  const disabled: string[] = [];
  if (finished.length === 0) return { outcomes, disabled };
  const endpointIds = [...new Set(finished.map(({ post }) => post.endpoint.endpoint_id))];
  if (kind === 'postgres') await tx.query(lockEndpoints(endpointIds));
  const succeeded = new Set<string>();
  for (const { post, outcome } of finished) {
    const { delivery_id: deliveryId } = post.delivery;
    const { claimId } = post;
    if (outcome === null) {
      await tx.run(releaseClaim, { deliveryId, claimId, now });
      continue;
    }
    const end = toEnd(post.delivery.attempts + 1, outcome, now);
    if ((await tx.run(recordAttempt, { deliveryId, claimId, ...end })) === 0) continue;
    outcomes.push(end.status === 'pending' ? 'retried' : end.status);
    const { endpoint_id: endpointId, url } = post.endpoint;
    if (outcome.isDelivered) succeeded.add(endpointId);
    else if (await noteFailed(tx, { endpointId, url, now }, outcome)) disabled.push(endpointId);
  }
  for (const endpointId of succeeded) await tx.run(noteSuccess, { endpointId });
  return { outcomes, disabled };
}

function toEnd(attempts: number, outcome: AttemptOutcome, now: number) {
  const { isDelivered, isGone, status: lastStatus, error: lastError, answer, retryAfterMs } = outcome;
  const nextAt = isDelivered || isGone ? null : nextAttemptAt(attempts, now, retryAfterMs, Math.random());
  return {
    status: isDelivered ? ('delivered' as const) : nextAt === null ? ('failed' as const) : ('pending' as const),
    nextAttemptAt: nextAt,
    lastStatus,
    lastError,
    answerJson: answer === null ? null : JSON.stringify(answer),
    deliveredAt: isDelivered ? now : null,
    settledAt: nextAt === null ? now : null,
  };
}

/** At this address. */
interface Failure {
  readonly endpointId: string;
  readonly url: string;
  readonly now: number;
}

/** Resolves to true if this failure disabled the endpoint. */
async function noteFailed(tx: Tx, failure: Failure, { isGone }: AttemptOutcome): Promise<boolean> {
  const { endpointId, now } = failure;
  await tx.run(noteFailure, failure);
  const disablement = isGone
    ? { reason: 'gone' as const, failingBefore: now }
    : { reason: 'failing' as const, failingBefore: now - FAILING_MS };
  if ((await tx.run(disableEndpoint, { ...failure, ...disablement })) === 0) return false;
  await skipSome(tx, endpointId, now);
  return true;
}
