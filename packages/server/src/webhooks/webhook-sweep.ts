import { setImmediate as nextTurn } from 'node:timers/promises';
import { Sweep } from '@runwire/lib/sweep.ts';
import {
  anyDeliveredIn,
  anyUnsentIn,
  anyWebhookRow,
  deleteDeliveredIn,
  deleteDeliveriesTo,
  deletedEndpoints,
  deleteSettled,
  deleteUnsentIn,
  endOfEventPart,
  endOfSettledPart,
} from '../store/queries/webhook-sweeps.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

interface WebhookSweepOptions {
  readonly logMs: number;
  readonly sweepMs: number;
}

const KEPT_MS = 30 * 86_400_000;
/** Rows per statement, so that others do not wait long. */
const BATCH = 1000;
/** How often all old events are looked at. In between, only newer ones are. */
const WHOLE_LOOK_MS = 86_400_000;

/**
 * T7 for webhooks: deletes delivered deliveries after the days for which events of runs are stored, failed and skipped ones
 * after 30 days, deliveries to deleted endpoints, and events without deliveries. It walks in parts, because most rows can stay:
 * one statement over a million rows would take longer than PostgreSQL allows.
 */
export class WebhookSweep extends Sweep {
  readonly #store: Store;
  readonly #logMs: number;
  readonly #now: () => number;
  /** Deliveries that were settled before this time were looked at. What is left was not delivered. */
  #lookedUntil = 0;
  #eventsLookedUntil = 0;
  #wholeLookAt = 0;

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
    let count = await this.#deleteDelivered(delivered);
    count += await this.#batches((tx, limit) => tx.run(deleteSettled, { until: settled, limit }));
    for (const { endpoint_id: endpointId } of await this.#store.reads.all(deletedEndpoints, {})) {
      count += await this.#batches((tx, limit) => tx.run(deleteDeliveriesTo, { endpointId, limit }));
    }
    return count + (await this.#deleteUnsent(delivered));
  }

  async #deleteDelivered(until: number): Promise<number> {
    const { reads } = this.#store;
    let count = 0;
    for (let after = { afterAt: this.#lookedUntil, afterId: '' }; !this.isClosed; ) {
      const last = await first(reads.all(endOfSettledPart, { ...after, until, rows: BATCH }));
      const [endAt, endId] = last === undefined ? [until, ''] : [Number(last.settled_at), last.delivery_id];
      const part = { ...after, endAt, endId };
      if ((await reads.all(anyDeliveredIn, part)).length > 0) {
        count += await this.#store.transact('sweep', (tx) => tx.run(deleteDeliveredIn, part));
      }
      if (last === undefined) {
        this.#lookedUntil = Math.max(this.#lookedUntil, until);
        return count;
      }
      after = { afterAt: endAt, afterId: endId };
      await nextTurn();
    }
    return count;
  }

  /** An old event's deliveries can be deleted after it was looked at, so all events are looked at again each day. */
  async #deleteUnsent(until: number): Promise<number> {
    const { reads } = this.#store;
    const isWhole = this.#now() >= this.#wholeLookAt;
    let count = 0;
    for (let afterAt = isWhole ? 0 : this.#eventsLookedUntil; !this.isClosed; ) {
      const last = await first(reads.all(endOfEventPart, { afterAt, until, rows: BATCH }));
      const part = { afterAt, endAt: last === undefined ? until - 1 : Number(last.created_at) };
      if ((await reads.all(anyUnsentIn, part)).length > 0) {
        count += await this.#store.transact('sweep', (tx) => tx.run(deleteUnsentIn, part));
      }
      if (last === undefined) {
        this.#eventsLookedUntil = Math.max(this.#eventsLookedUntil, until - 1);
        if (isWhole) this.#wholeLookAt = this.#now() + WHOLE_LOOK_MS;
        return count;
      }
      afterAt = part.endAt;
      await nextTurn();
    }
    return count;
  }

  async #batches(remove: (tx: Tx, limit: number) => Promise<number>): Promise<number> {
    for (let count = 0; ; ) {
      const removed = await this.#store.transact('sweep', (tx) => remove(tx, BATCH));
      count += removed;
      if (removed < BATCH || this.isClosed) return count;
    }
  }
}
