import type { FairBudget } from '@runwire/lib/fair-budget.ts';
import { WakeableLoop } from '@runwire/lib/wakeable-loop.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import { dueEndpoints, lockEndpoints } from '../store/queries/webhook-claims.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { claimPosts } from './claim-posts.ts';
import { DeliverySlots, type SlotShare } from './delivery-slots.ts';
import type { EndpointCache } from './endpoint-cache.ts';
import { type PostDeps, postEvent } from './post-event.ts';
import { type FinishedPost, type Post, type RecordedChanges, recordAttempts } from './record-attempts.ts';
import { skipSome } from './skip-pending.ts';
import { endTracedPost, tracePost } from './trace-post.ts';

export const POSTS_PER_NODE = 32;
const POLL_MS = 1000;
/** Endpoints with pending deliveries that one turn looks at. */
const LOOK = 1000;
/** What is woken within this time shares a turn, so that a busy node commits once for several posts. */
const TURN_MS = 5;

export interface DeliveryDeps extends PostDeps {
  readonly store: Store;
  readonly cache: EndpointCache;
  /** Checks the charges that may have used up allowances. */
  readonly checkAllowances: () => Promise<void>;
  /** `POSTS_PER_NODE` slots that owners share. */
  readonly budget: FairBudget;
  readonly waitAt: WaitAt | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Null if traces are off. */
  readonly tracing: Tracing | null;
}

/**
 * Posts due deliveries:
 *
 *   due ──claim, for 60 s──▶ posted, outside of any transaction ──outcome stored, if the claim is still ours──▶ delivered
 *    ▲                                                              │                                            failed
 *    └──────────────────────────── next attempt ───────────────────┘                                            skipped
 *
 * One transaction stores the outcomes of finished posts and claims the next deliveries. Every node does this. The loop is
 * woken after a commit with events and after each post; it also looks every second, with one query if nothing is due. If no
 * integration has an endpoint, it looks at nothing.
 */
export class DeliveryLoop implements AsyncDisposable {
  readonly #deps: DeliveryDeps;
  readonly #slots: DeliverySlots;
  readonly #loop: WakeableLoop;
  readonly #stop = new AbortController();
  readonly #posting = new Set<Promise<void>>();
  #finished: FinishedPost[] = [];
  /** Endpoints that get nothing any more and may have pending deliveries. */
  readonly #skipping = new Set<string>();
  #nextTurn: NodeJS.Timeout | null = null;
  /** Since when the first due delivery waits, as the last whole round found it. Null if none is due. */
  #dueSince: number | null = null;
  /** A round looks at all endpoints with pending deliveries, by their ids: in one turn unless they are many. */
  #round: { readonly after: string; readonly dueSince: number | null } = NEW_ROUND;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    this.#slots = new DeliverySlots(deps.budget);
    this.#loop = new WakeableLoop(
      POLL_MS,
      () => this.#turn(),
      (error) => deps.logger.warn({ err: error }, 'webhook deliveries could not be claimed or recorded; retrying'),
    );
  }

  start(): void {
    this.#loop.start();
    this.#loop.wake();
  }

  /** How long the first due delivery of all endpoints has waited for a node that posts it. */
  get dueAgeMs(): number {
    return this.#dueSince === null ? 0 : Math.max(0, this.#deps.now() - this.#dueSince);
  }

  /** Looks for due deliveries soon. */
  wake(): void {
    this.#nextTurn ??= setTimeout(() => {
      this.#nextTurn = null;
      this.#loop.wake();
    }, TURN_MS);
  }

  /** Skips what is pending for an endpoint that gets nothing any more, some in each turn. */
  skipRest(endpointId: string): void {
    this.#skipping.add(endpointId);
    this.wake();
  }

  async #turn(): Promise<void> {
    const { cache } = this.#deps;
    const finished = [...this.#finished];
    const mayClaim = !this.#stop.signal.aborted && cache.mayHaveAny() && this.#slots.used < POSTS_PER_NODE;
    const { due, hasChecks } = mayClaim ? await this.#look() : NOTHING_DUE;
    if (!cache.mayHaveAny()) this.#dueSince = null;
    if (hasChecks) {
      await this.#deps.checkAllowances();
      this.#loop.wake();
    }
    const shares = this.#slots.share(due);
    if (finished.length > 0 || shares.length > 0) await this.#storeAndPost(finished, shares);
    await this.#skipSome();
  }

  /** Finds endpoints with due deliveries. If there are many, the next turn continues. */
  async #look() {
    const { store, now } = this.#deps;
    const { after, dueSince: earlier } = this.#round;
    const rows = await store.reads.all(dueEndpoints, { now: now(), after, limit: LOOK });
    const due = rows.filter(({ endpoint_id: endpointId }) => endpointId !== '');
    const dueSince = findFirstDue([{ due_since: earlier }, ...due]);
    const about = rows.find(({ endpoint_id: endpointId }) => endpointId === '');
    const walkedTo = about?.walked_to ?? '';
    this.#round = walkedTo === '' ? NEW_ROUND : { after: walkedTo, dueSince };
    if (walkedTo === '') this.#dueSince = dueSince;
    else this.wake();
    return { due, hasChecks: Number(about?.has_checks ?? 0) === 1 };
  }

  async #storeAndPost(finished: readonly FinishedPost[], shares: readonly SlotShare[]): Promise<void> {
    let posts: readonly Post[] = [];
    try {
      posts = await this.#commit(finished, shares);
    } finally {
      this.#releaseUnused(shares, posts);
    }
    for (const post of posts) this.#begin(post);
  }

  /** Stores outcomes and claims deliveries. */
  async #commit(finished: readonly FinishedPost[], shares: readonly SlotShare[]): Promise<readonly Post[]> {
    const { store, now, metrics } = this.#deps;
    const { recorded, posts } = await store.transact('webhook', async (tx) => {
      const recorded = await recordAttempts(tx, store.kind, finished, now());
      const posts: Post[] = [];
      for (const share of shares) posts.push(...(await claimPosts(tx, store.kind, share, now())));
      return { recorded, posts };
    });
    this.#finished = this.#finished.slice(finished.length);
    for (const endpointId of recorded.disabled) this.#skipping.add(endpointId);
    count(metrics, recorded);
    return posts;
  }

  async #skipSome(): Promise<void> {
    const [endpointId] = this.#skipping;
    if (endpointId === undefined) return;
    const { store, now } = this.#deps;
    const hasMore = await store.transact('webhook', async (tx) => {
      if (store.kind === 'postgres') await tx.query(lockEndpoints([endpointId]));
      return skipSome(tx, endpointId, now());
    });
    this.#skipping.delete(endpointId);
    // The endpoints take turns.
    if (hasMore) this.#skipping.add(endpointId);
    if (this.#skipping.size > 0) this.#loop.wake();
  }

  #releaseUnused(shares: readonly SlotShare[], posts: readonly Post[]): void {
    const used = new Set(posts.map(({ hold }) => hold));
    for (const { endpointId, holds } of shares) {
      for (const hold of holds) if (!used.has(hold)) this.#slots.release(endpointId, hold);
    }
  }

  #begin(post: Post): void {
    const posting = this.#post(post).finally(() => this.#posting.delete(posting));
    this.#posting.add(posting);
  }

  async #post(post: Post): Promise<void> {
    const { waitAt, tracing, store } = this.#deps;
    // A post without its span is better than none.
    const span = tracing === null ? null : await tracePost(tracing, store, post).catch(() => null);
    waitAt?.('webhook-post.before');
    const outcome = await postEvent(this.#deps, post.endpoint, post.delivery, this.#stop.signal).catch(() => null);
    if (span !== null) endTracedPost(span, outcome);
    waitAt?.('webhook-post.after');
    this.#finished.push({ post, outcome });
    // Its slot is free for the turn that stores the outcome: otherwise posts that end together leave the next to the clock.
    this.#slots.release(post.endpoint.endpoint_id, post.hold);
    if (!this.#stop.signal.aborted) this.wake();
  }

  /** Gives the claims of unanswered posts back, so that another node posts them immediately. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('The server is shutting down.'));
    if (this.#nextTurn !== null) clearTimeout(this.#nextTurn);
    await this.#loop[Symbol.asyncDispose]();
    await Promise.all(this.#posting);
    await this.#turn().catch(() => {});
  }
}

const NEW_ROUND = { after: '', dueSince: null };
const NOTHING_DUE = { due: [], hasChecks: false };

function findFirstDue(due: readonly { readonly due_since: number | null }[]): number | null {
  const times = due.flatMap(({ due_since: since }) => (since === null ? [] : [Number(since)]));
  return times.length === 0 ? null : Math.min(...times);
}

function count(metrics: Metrics, { outcomes, disabled }: RecordedChanges): void {
  for (const outcome of outcomes) metrics.webhookDeliveries.add({ outcome });
  for (const _ of disabled) metrics.webhooksDisabled.add({});
}
