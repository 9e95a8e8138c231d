import { installation, lockInstallation, raiseAccountsVersion } from '../store/queries/accounts.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

/**
 * Changes accounts and tells every cache: the version is raised in the same transaction, this process forgets at
 * once, and others (a second node, a command beside the server) when they read the version, every 2 s.
 */
export class AccountChanges implements Disposable {
  readonly #store: Store;
  readonly #forget: () => void;
  readonly #timer: NodeJS.Timeout;
  #seen: number | null = null;

  constructor(store: Store, everyMs: number, forget: () => void, logger: Logger) {
    this.#store = store;
    this.#forget = forget;
    this.#timer = setInterval(() => {
      this.#look().catch((error: unknown) => logger.warn({ err: error }, 'the version of accounts was not read'));
    }, everyMs);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const version = (await first(this.#store.reads.all(installation, {})))?.accounts_version ?? null;
    if (version !== this.#seen) this.#forget();
    this.#seen = version;
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
