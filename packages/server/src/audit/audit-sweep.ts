import { Sweep } from '@runwire/lib/sweep.ts';
import type { OwnerId } from '../domain/ids.ts';
import {
  deletedOwnerWithEvents,
  deleteEventsOfOwner,
  deleteOldAuditEvents,
  oldAuditEvent,
} from '../store/queries/audit.ts';
import { first, type Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Rows per transaction, so that others do not wait long. */
const BATCH = 1000;

/** T7 for the audit log: deletes events after `RUNWIRE_AUDIT_DAYS`, and events of deleted owners. */
export class AuditSweep extends Sweep {
  readonly #store: Store;
  readonly #auditMs: number;
  readonly #now: () => number;

  constructor(
    store: Store,
    { sweepMs, auditMs }: { readonly sweepMs: number; readonly auditMs: number },
    now: () => number,
    logger: Logger,
  ) {
    super(sweepMs, 'old audit events', logger);
    this.#store = store;
    this.#auditMs = auditMs;
    this.#now = now;
  }

  /** Resolves to the number of deleted rows. */
  protected override async sweepOnce(): Promise<number> {
    const { reads } = this.#store;
    const before = this.#now() - this.#auditMs;
    let count = 0;
    // A read costs less than a commit, and most sweeps find nothing.
    while (!this.isClosed && (await reads.all(oldAuditEvent, { before })).length > 0) {
      count += await this.#store.transact('sweep', (tx) => tx.run(deleteOldAuditEvents, { before, limit: BATCH }));
    }
    while (!this.isClosed) {
      const owner = await first(reads.all(deletedOwnerWithEvents, {}));
      if (owner === undefined) return count;
      count += await this.#deleteEventsOf(owner.owner_id);
    }
    return count;
  }

  async #deleteEventsOf(ownerId: OwnerId): Promise<number> {
    for (let count = 0; ; ) {
      const deleted = await this.#store.transact('sweep', (tx) =>
        tx.run(deleteEventsOfOwner, { ownerId, limit: BATCH }),
      );
      count += deleted;
      if (deleted < BATCH || this.isClosed) return count;
    }
  }
}
