import { withTimeout } from '@runwire/lib/with-timeout.ts';
import { touchInstallation } from './queries/accounts.ts';
import { runAlone, type Store } from './store.ts';

/**
 * Finds out by a write whether the store accepts writes. Concurrent callers share one write, and its result is valid
 * for a while, so readiness checks cost at most one commit in that time.
 */
export class WriteProbe {
  readonly #store: Store;
  readonly #goodForMs: number;
  readonly #patienceMs: number;
  #answer: Promise<boolean> | null = null;

  constructor(store: Store, goodForMs: number, patienceMs: number) {
    this.#store = store;
    this.#goodForMs = goodForMs;
    this.#patienceMs = patienceMs;
  }

  takesWrites(): Promise<boolean> {
    if (this.#answer === null) {
      const answer = this.#write();
      this.#answer = answer;
      void answer.then(() => {
        setTimeout(() => {
          this.#answer = null;
        }, this.#goodForMs).unref();
      });
    }
    return this.#answer;
  }

  #write(): Promise<boolean> {
    const written = runAlone(this.#store, touchInstallation, {}).then(
      (rows) => rows === 1,
      () => false,
    );
    return withTimeout(written, this.#patienceMs, () => false);
  }
}
