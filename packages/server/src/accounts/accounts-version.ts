import { accountsState, lockInstallation, raiseAccountsVersion } from '../store/queries/accounts.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { AccountCache } from './account-cache.ts';

export interface AccountsVersionLimits {
  readonly accountsVersionMs: number;
  readonly accountsTrustedMs: number;
}

/**
 * Changes accounts and clears every cache. The version is raised in the same transaction. This process clears its
 * caches immediately; other processes (a second node, a command beside the server) clear theirs when they read the new
 * version, every 2 s. If the version was not read for 5 s, the caches are not used, because a key may have been
 * revoked.
 */
export class AccountChanges implements Disposable {
  readonly #store: Store;
  readonly #trustedMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #caches: { forget(): void }[] = [];
  #seen: number | null = null;
  #hasSeveralOwners = false;
  /** When the newest answered read of the version began. */
  #certainAt = performance.now();
  /** When the current read began. Null if no read is in progress. */
  #askedAt: number | null = null;

  constructor(store: Store, limits: AccountsVersionLimits, logger: Logger) {
    this.#store = store;
    this.#trustedMs = limits.accountsTrustedMs;
    this.#timer = setInterval(() => {
      this.look().catch((error: unknown) =>
        logger.warn({ err: error }, 'the accounts version could not be read; retrying'),
      );
    }, limits.accountsVersionMs);
    this.#timer.unref();
  }

  /** Adds a cache that is cleared at every change. */
  cache<V>(max: number): AccountCache<V> {
    const cache = new AccountCache<V>(max, () => this.isCertain);
    this.watch(cache);
    return cache;
  }

  /** Calls `forget` after every change. */
  watch(cache: { forget(): void }): void {
    this.#caches.push(cache);
  }

  /** True while this process learns of every change in time. */
  get isCertain(): boolean {
    return performance.now() - this.#certainAt <= this.#trustedMs;
  }

  /** True while this process knows of a second owner. */
  get hasSeveralOwners(): boolean {
    return this.#hasSeveralOwners;
  }

  /** Reads the version and the number of owners: once at the start, then on a timer. */
  async look(): Promise<void> {
    const now = performance.now();
    // One reading at a time. A reading that hangs is given up, otherwise this process would not notice that the store is back.
    if (this.#askedAt !== null && now - this.#askedAt <= this.#trustedMs) return;
    this.#askedAt = now;
    try {
      const state = await first(this.#store.reads.all(accountsState, {}));
      this.#noteOwners(state?.owners);
      const version = state?.accounts_version ?? null;
      if (now < this.#certainAt) return;
      if (version !== this.#seen) this.#forget();
      this.#seen = version;
      this.#certainAt = now;
    } finally {
      if (this.#askedAt === now) this.#askedAt = null;
    }
  }

  #noteOwners(owners: number | undefined): void {
    if (owners !== undefined) this.#hasSeveralOwners = Number(owners) > 1;
  }

  #forget(): void {
    for (const cache of this.#caches) cache.forget();
  }

  async change<T>(job: (tx: Tx) => Promise<T>): Promise<T> {
    const { value, state } = await this.#store.transact('account', async (tx) => {
      await tx.all(lockInstallation, {});
      const value = await job(tx);
      await tx.run(raiseAccountsVersion, {});
      return { value, state: await first(tx.all(accountsState, {})) };
    });
    this.#noteOwners(state?.owners);
    this.#forget();
    return value;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
