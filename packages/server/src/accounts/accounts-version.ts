import { installation, lockInstallation, raiseAccountsVersion } from '../store/queries/accounts.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { AccountCache } from './account-cache.ts';

export interface AccountsVersionLimits {
  readonly accountsVersionMs: number;
  readonly accountsTrustedMs: number;
}

/**
 * Changes accounts and tells every cache: the version is raised in the same transaction, this process forgets at
 * once, and others (a second node, a command beside the server) when they read the version, every 2 s. "Not read for
 * 5 s, the caches are not trusted": then the store itself is asked, for a key may have been revoked meanwhile.
 */
export class AccountChanges implements Disposable {
  readonly #store: Store;
  readonly #trustedMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #caches: { forget(): void }[] = [];
  #seen: number | null = null;
  /** When the newest reading of the version began that was answered. */
  #certainAt = performance.now();
  /** When the reading under way began; null: there is none. */
  #askedAt: number | null = null;

  constructor(store: Store, limits: AccountsVersionLimits, logger: Logger) {
    this.#store = store;
    this.#trustedMs = limits.accountsTrustedMs;
    this.#timer = setInterval(() => {
      this.#look().catch((error: unknown) => logger.warn({ err: error }, 'the version of accounts was not read'));
    }, limits.accountsVersionMs);
    this.#timer.unref();
  }

  /** A cache that is told of every change. */
  cache<V>(max: number): AccountCache<V> {
    const cache = new AccountCache<V>(max, () => performance.now() - this.#certainAt <= this.#trustedMs);
    this.#caches.push(cache);
    return cache;
  }

  async #look(): Promise<void> {
    const now = performance.now();
    // One at a time; but one that hangs is given up, or nobody would notice that the store is back.
    if (this.#askedAt !== null && now - this.#askedAt <= this.#trustedMs) return;
    this.#askedAt = now;
    try {
      const version = (await first(this.#store.reads.all(installation, {})))?.accounts_version ?? null;
      if (now < this.#certainAt) return;
      if (version !== this.#seen) this.#forget();
      this.#seen = version;
      this.#certainAt = now;
    } finally {
      if (this.#askedAt === now) this.#askedAt = null;
    }
  }

  #forget(): void {
    for (const cache of this.#caches) cache.forget();
  }

  async change<T>(job: (tx: Tx) => Promise<T>): Promise<T> {
    const result = await this.#store.transact('account', async (tx) => {
      await tx.all(lockInstallation, {});
      const value = await job(tx);
      await tx.run(raiseAccountsVersion, {});
      return value;
    });
    this.#forget();
    return result;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
