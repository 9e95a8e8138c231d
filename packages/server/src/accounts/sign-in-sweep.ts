import { Sweep } from '@runwire/lib/sweep.ts';
import { deleteOldFailures, deleteOldLinks, deleteOldSessions, oldSignIns } from '../store/queries/sign-in.ts';
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
  protected override async sweepOnce(): Promise<number> {
    const now = Date.now();
    const sessions = { createdBefore: now - SESSION_MS, usedBefore: now - IDLE_SESSION_MS };
    const failedBefore = now - FAILURE_MS;
    // A read costs less than a commit, and most sweeps find nothing.
    if ((await this.#store.reads.all(oldSignIns, { ...sessions, now, failedBefore })).length === 0) return 0;
    return await this.#store.transact('sweep', async (tx) => {
      const deleted = await Promise.all([
        tx.run(deleteOldSessions, sessions),
        tx.run(deleteOldLinks, { now }),
        tx.run(deleteOldFailures, { before: failedBefore }),
      ]);
      return deleted.reduce((sum, rows) => sum + rows, 0);
    });
  }
}
