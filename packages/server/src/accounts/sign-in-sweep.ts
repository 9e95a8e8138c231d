import { Sweep } from '../lib/sweep.ts';
import { deleteOldFailures, deleteOldLinks, deleteOldSessions } from '../store/queries/sign-in.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { IDLE_SESSION_MS, SESSION_MS } from './session-life.ts';
import { FAILURE_MS } from './sign-in-limits.ts';

/** T7 for signing in: deletes sessions and set-up links that ended by their time, and failures that count no more. */
export class SignInSweep extends Sweep {
  readonly #store: Store;

  constructor(store: Store, { sweepMs }: { readonly sweepMs: number }, logger: Logger) {
    super(sweepMs, 'old sessions and sign-ins', logger);
    this.#store = store;
  }

  /** Resolves to the number of deleted rows. */
  protected override sweepOnce(): Promise<number> {
    const now = Date.now();
    return this.#store.transact('sweep', async (tx) => {
      const deleted = await Promise.all([
        tx.run(deleteOldSessions, { createdBefore: now - SESSION_MS, usedBefore: now - IDLE_SESSION_MS }),
        tx.run(deleteOldLinks, { now }),
        tx.run(deleteOldFailures, { before: now - FAILURE_MS }),
      ]);
      return deleted.reduce((sum, rows) => sum + rows, 0);
    });
  }
}
