import { inTime } from '../lib/in-time.ts';
import { touchInstallation } from './queries/accounts.ts';
import type { Store } from './store.ts';

/**
 * Whether the store takes writes, found out by writing. Anybody may ask, so an answer is good for a while and all who
 * ask meanwhile share it: however often readiness is asked, it costs at most one commit in that time.
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
    const written = this.#store
      .transact('account', (tx) => tx.run(touchInstallation, {}))
      .then(
        (rows) => rows === 1,
        () => false,
      );
    return inTime(written, this.#patienceMs, () => false);
  }
}
