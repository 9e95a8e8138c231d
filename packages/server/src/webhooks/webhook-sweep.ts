import { Sweep } from '@runwire/lib/sweep.ts';
import {
  anyWebhookRow,
  deleteDelivered,
  deleteDeliveriesTo,
  deletedEndpoints,
  deleteSettled,
  deleteUnsentEvents,
} from '../store/queries/webhook-sweeps.ts';
import type { Store, Tx } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

interface WebhookSweepOptions {
  readonly logMs: number;
  readonly sweepMs: number;
}

const KEPT_MS = 30 * 86_400_000;
/** Rows per transaction, so that others do not wait long. */
const BATCH = 1000;

/**
 * T7 for webhooks: deletes delivered deliveries after the days for which events of runs are stored, failed and skipped ones
 * after 30 days, those of deleted endpoints, and events without deliveries.
 */
export class WebhookSweep extends Sweep {
  readonly #store: Store;
  readonly #logMs: number;
  readonly #now: () => number;

  constructor(store: Store, { logMs, sweepMs }: WebhookSweepOptions, now: () => number, logger: Logger) {
    super(sweepMs, 'webhook deliveries', logger);
    this.#store = store;
    this.#logMs = logMs;
    this.#now = now;
  }

  /** Resolves to the number of deleted rows. */
  protected override async sweepOnce(): Promise<number> {
    if ((await this.#store.reads.all(anyWebhookRow, {})).length === 0) return 0;
    const delivered = this.#now() - this.#logMs;
    const settled = this.#now() - KEPT_MS;
    let count = await this.#batches((tx, limit) => tx.run(deleteDelivered, { until: delivered, limit }));
    count += await this.#batches((tx, limit) => tx.run(deleteSettled, { until: settled, limit }));
    for (const { endpoint_id: endpointId } of await this.#store.reads.all(deletedEndpoints, {})) {
      count += await this.#batches((tx, limit) => tx.run(deleteDeliveriesTo, { endpointId, limit }));
    }
    return count + (await this.#batches((tx, limit) => tx.run(deleteUnsentEvents, { until: delivered, limit })));
  }

  async #batches(remove: (tx: Tx, limit: number) => Promise<number>): Promise<number> {
    for (let count = 0; ; ) {
      const removed = await this.#store.transact('sweep', (tx) => remove(tx, BATCH));
      count += removed;
      if (removed < BATCH || this.isClosed) return count;
    }
  }
}
