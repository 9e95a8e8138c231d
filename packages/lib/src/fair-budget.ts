/** What one owner holds of a budget, until it is disposed of. Disposing is idempotent. */
export interface Hold extends Disposable {
  readonly amount: number;
  /** Takes more, even if the budget has no room for it. */
  grow(by: number): void;
  /** Takes more and returns true, or returns false if there is no room for it. */
  tryGrow(by: number): boolean;
  /** Gives back what is above `amount`; does nothing if the hold is smaller already. */
  shrinkTo(amount: number): void;
}

interface Waiting {
  readonly amount: number;
  readonly grant: (hold: Hold) => void;
}

/**
 * An amount (bytes, slots) that owners share. If there are several owners, each holds at most half of it, also while no
 * other owner asks; a single owner may hold everything. An owner either gets what it asks for immediately (`tryGrow`) or
 * waits in its own queue (`reserve`). The queues take turns, so the length of one does not delay the others.
 *
 * An owner can hold more than its share: `grow` never refuses, and the second owner may arrive while the first holds
 * everything. The excess takes no room from other owners: each of them still gets its share.
 */
export class FairBudget {
  readonly #total: number;
  readonly #hasSeveralOwners: () => boolean;
  readonly #heldBy = new Map<string, number>();
  #held = 0;
  /** In their next turn's order. */
  readonly #queues = new Map<string, Waiting[]>();

  constructor(total: number, hasSeveralOwners: () => boolean) {
    this.#total = total;
    this.#hasSeveralOwners = hasSeveralOwners;
  }

  /** What all owners hold together. */
  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return [...this.#queues.values()].reduce((sum, queue) => sum + queue.length, 0);
  }

  /** An empty hold; it grows as its owner needs. */
  hold(ownerId: string): Hold {
    return this.#newHold(ownerId, 0);
  }

  /** True if the owner may take so much now. */
  fits(ownerId: string, amount: number): boolean {
    const share = this.#share;
    if (this.#countHeld(ownerId) + amount > share) return false;
    if (this.#held + amount <= this.#total) return true;
    let counted = 0;
    for (const held of this.#heldBy.values()) counted += Math.min(held, share);
    return counted + amount <= this.#total;
  }

  /**
   * Waits for the owner's turn and for room. Rejects with the signal's reason if it is aborted first. A request for more
   * than a share is granted a share, otherwise it would wait forever.
   */
  async reserve(ownerId: string, amount: number, signal: AbortSignal): Promise<Hold> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Hold>();
    const waiting: Waiting = { amount, grant: resolve };
    const onAbort = () => {
      if (!this.#leave(ownerId, waiting)) return;
      reject(signal.reason);
      this.#grant();
    };
    signal.addEventListener('abort', onAbort);
    const queue = this.#queues.get(ownerId);
    if (queue === undefined) this.#queues.set(ownerId, [waiting]);
    else queue.push(waiting);
    this.#grant();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** At least 1: half of a single slot would admit no owner. */
  get #share(): number {
    return this.#hasSeveralOwners() ? Math.max(1, Math.floor(this.#total / 2)) : this.#total;
  }

  #countHeld(ownerId: string): number {
    return this.#heldBy.get(ownerId) ?? 0;
  }

  #newHold(ownerId: string, initial: number): Hold {
    const hold = new BudgetHold(this, ownerId);
    hold.grow(initial);
    return hold;
  }

  /** Called by the budget's own holds. */
  change(ownerId: string, by: number): void {
    this.#held += by;
    const own = this.#countHeld(ownerId) + by;
    if (own === 0) this.#heldBy.delete(ownerId);
    else this.#heldBy.set(ownerId, own);
    if (by < 0) this.#grant();
  }

  /** Returns false if the request is not in the queue because it was granted already. */
  #leave(ownerId: string, waiting: Waiting): boolean {
    const queue = this.#queues.get(ownerId) ?? [];
    const index = queue.indexOf(waiting);
    if (index < 0) return false;
    queue.splice(index, 1);
    if (queue.length === 0) this.#queues.delete(ownerId);
    return true;
  }

  #grant(): void {
    while (this.#queues.size > 0 && this.#grantOne());
  }

  #grantOne(): boolean {
    const share = this.#share;
    for (const [ownerId, queue] of this.#queues) {
      const [next] = queue;
      if (next === undefined) continue;
      const amount = Math.min(next.amount, share);
      // This owner waits for its own holds. The others do not wait for it.
      if (this.#countHeld(ownerId) + amount > share) continue;
      // It is this owner's turn, and it waits for room: a smaller request of another owner does not overtake it.
      if (!this.fits(ownerId, amount)) return false;
      queue.shift();
      this.#queues.delete(ownerId);
      if (queue.length > 0) this.#queues.set(ownerId, queue);
      next.grant(this.#newHold(ownerId, amount));
      return true;
    }
    return false;
  }
}

/** A class, because each active run has a hold: closures would take ten times the memory. */
class BudgetHold implements Hold {
  readonly #budget: FairBudget;
  readonly #ownerId: string;
  #amount = 0;

  constructor(budget: FairBudget, ownerId: string) {
    this.#budget = budget;
    this.#ownerId = ownerId;
  }

  get amount(): number {
    return this.#amount;
  }

  grow(by: number): void {
    this.#amount += by;
    this.#budget.change(this.#ownerId, by);
  }

  tryGrow(by: number): boolean {
    if (!this.#budget.fits(this.#ownerId, by)) return false;
    this.grow(by);
    return true;
  }

  shrinkTo(amount: number): void {
    if (amount < this.#amount) this.grow(amount - this.#amount);
  }

  [Symbol.dispose](): void {
    this.shrinkTo(0);
  }
}
