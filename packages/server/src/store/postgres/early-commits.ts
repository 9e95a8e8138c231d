/** While a commit is not durable, a durable one follows within this time. */
const SETTLE_MS = 500;

/**
 * Commits of the writer that PostgreSQL acknowledged before their WAL was on the disk. A later durable commit on the same
 * connection settles them: the WAL is written in order, and after a crash of the server the connection would be lost. If
 * the connection is lost before, they may be lost too.
 */
export class EarlyCommits {
  readonly #settleNow: () => void;
  #pending: PromiseWithResolvers<void>[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** `settleNow` makes a durable commit. */
  constructor(settleNow: () => void) {
    this.#settleNow = settleNow;
  }

  add(commits: readonly PromiseWithResolvers<void>[]): void {
    this.#pending.push(...commits);
    this.#timer ??= setTimeout(this.#onTime, SETTLE_MS);
  }

  #onTime = (): void => {
    this.#timer = null;
    if (this.#pending.length === 0) return;
    this.#settleNow();
    // If the commit fails and the connection lives, it is repeated.
    this.#timer = setTimeout(this.#onTime, SETTLE_MS);
  };

  /** Called after a durable commit on the connection of the pending ones. */
  settle(): void {
    for (const { resolve } of this.#take()) resolve();
  }

  /** Called when the connection is lost. */
  lose(): void {
    for (const { reject } of this.#take()) reject(new Error('The connection was lost before the commit was durable.'));
  }

  #take(): PromiseWithResolvers<void>[] {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const pending = this.#pending;
    this.#pending = [];
    return pending;
  }
}
