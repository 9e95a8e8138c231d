import { Sweep } from '@runwire/lib/sweep.ts';
import { deleteOldTicks, oldTick } from '../store/queries/schedule-ticks.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

const BATCH = 500;

export interface TickSweepOptions {
  readonly logMs: number;
  readonly sweepMs: number;
}

/** T7 for schedules: deletes what happened at ticks that are older than the log. */
export class TickSweep extends Sweep {
  readonly #store: Store;
  readonly #logMs: number;
  readonly #now: () => number;

  constructor(store: Store, { logMs, sweepMs }: TickSweepOptions, now: () => number, logger: Logger) {
    super(sweepMs, 'old ticks of schedules', logger);
    this.#store = store;
    this.#logMs = logMs;
    this.#now = now;
  }

  /** Resolves to the number of deleted rows. */
  protected override async sweepOnce(): Promise<number> {
    const before = this.#now() - this.#logMs;
    let total = 0;
    // A read costs less than a commit, and most sweeps find nothing.
    while (!this.isClosed && (await this.#store.reads.all(oldTick, { before })).length > 0) {
      total += await this.#store.transact('sweep', (tx) => tx.run(deleteOldTicks, { before, limit: BATCH }));
    }
    return total;
  }
}
