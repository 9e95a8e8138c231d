import type { FairBudget, Hold } from '@runwire/lib/fair-budget.ts';

export const POSTS_PER_ENDPOINT = 4;

interface DueEndpoint {
  readonly endpoint_id: string;
  readonly owner_id: string;
  readonly failing_since: number | null;
}

/** How many deliveries of an endpoint are claimed, and the slots that they hold. */
export interface SlotShare {
  readonly endpointId: string;
  readonly holds: Hold[];
}

/** The posts that this node may have under way: for each endpoint, and fair between owners. */
export class DeliverySlots {
  readonly #budget: FairBudget;
  readonly #posting = new Map<string, number>();
  /** The owner that was served first in the last round; the next round begins after it. */
  #lastOwner = '';

  constructor(budget: FairBudget) {
    this.#budget = budget;
  }

  get used(): number {
    return this.#budget.held;
  }

  /** Gives slots to endpoints with due deliveries, one to each owner in turn, until no slot or no endpoint is left. */
  share(due: readonly DueEndpoint[]): SlotShare[] {
    const shares = new Map<string, SlotShare>();
    let queues = this.#queues(due);
    while (queues.length > 0) {
      queues = queues.filter((queue) => {
        const next = queue.shift();
        if (next === undefined) return false;
        if (!this.#take(next, shares)) return queue.length > 0;
        queue.push(next);
        return true;
      });
    }
    return [...shares.values()];
  }

  /** Call it when the post has ended. */
  release(endpointId: string, hold: Hold): void {
    hold[Symbol.dispose]();
    const left = (this.#posting.get(endpointId) ?? 1) - 1;
    if (left === 0) this.#posting.delete(endpointId);
    else this.#posting.set(endpointId, left);
  }

  #take(
    { endpoint_id: endpointId, owner_id: ownerId, failing_since: failing }: DueEndpoint,
    shares: Map<string, SlotShare>,
  ) {
    const posting = this.#posting.get(endpointId) ?? 0;
    // An endpoint that fails may hang for the whole time limit, so it gets one slot until it succeeds.
    if (posting >= (failing === null ? POSTS_PER_ENDPOINT : 1)) return false;
    const hold = this.#budget.hold(ownerId);
    if (!hold.tryGrow(1)) return false;
    this.#posting.set(endpointId, posting + 1);
    const share = shares.get(endpointId);
    if (share === undefined) shares.set(endpointId, { endpointId, holds: [hold] });
    else share.holds.push(hold);
    return true;
  }

  /** The endpoints of each owner, in random order, so that no endpoint is always first. */
  #queues(due: readonly DueEndpoint[]): DueEndpoint[][] {
    const byOwner = Map.groupBy(due, ({ owner_id: ownerId }) => ownerId);
    const owners = [...byOwner.keys()].sort();
    const begin = owners.findIndex((owner) => owner > this.#lastOwner);
    const ordered = begin < 0 ? owners : [...owners.slice(begin), ...owners.slice(0, begin)];
    this.#lastOwner = ordered[0] ?? '';
    return ordered.map((owner) => shuffle(byOwner.get(owner) ?? []));
  }
}

function shuffle<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
