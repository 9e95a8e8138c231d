import { type IntegrationId, newId, type RunId } from '../domain/ids.ts';
import { iso } from '../domain/time.ts';
import { type WebhookEventType, wantsEvent } from '../domain/webhook.ts';
import { insertDelivery, insertEvent } from '../store/queries/webhook-deliveries.ts';
import { endpointsForEvents } from '../store/queries/webhook-endpoints.ts';
import type { Tx } from '../store/store.ts';
import type { StoredPath } from '../store/stored-path.ts';
import type { EndpointCache } from './endpoint-cache.ts';
import { newDelivery } from './new-delivery.ts';

export interface EventDraft {
  readonly type: WebhookEventType;
  /** What the event is about, besides the integration. */
  readonly data: object;
  readonly runId?: RunId;
  readonly consumerId?: string | null;
  readonly path?: StoredPath;
  /** The event is stored only if no event has this key yet. */
  readonly onceKey?: string;
}

/** For commands, which know no caches: the store is read each time. */
export const uncachedOutbox = (): EventOutbox => new EventOutbox({ mayHave: () => true }, Date.now);

/**
 * Stores events in the transaction of what they report: an event exists exactly if that was committed. An integration
 * without endpoints costs one lookup in memory.
 */
export class EventOutbox {
  readonly #cache: Pick<EndpointCache, 'mayHave'>;
  readonly #now: () => number;
  /** Called after a commit that may have stored events. */
  onCommitted: () => void = () => {};

  constructor(cache: Pick<EndpointCache, 'mayHave'>, now: () => number) {
    this.#cache = cache;
    this.#now = now;
  }

  /** False if the integration has no endpoint. Then nothing needs to be recorded. */
  mayWant(integrationId: IntegrationId): boolean {
    return this.#cache.mayHave(integrationId);
  }

  /** Calls `draft` only if an endpoint wants one of these types, and stores the drafts that are wanted. */
  async record(
    tx: Tx,
    integrationId: IntegrationId,
    types: readonly WebhookEventType[],
    draft: () => readonly EventDraft[] | Promise<readonly EventDraft[]>,
  ): Promise<void> {
    const endpoints = await tx.all(endpointsForEvents, { integrationId });
    if (!endpoints.some(({ events }) => types.some((type) => wantsEvent(events, type)))) return;
    for (const event of await draft()) {
      const wanting = endpoints.filter(({ events }) => wantsEvent(events, event.type));
      if (wanting.length > 0) await this.#store(tx, integrationId, event, wanting);
    }
  }

  async #store(
    tx: Tx,
    integrationId: IntegrationId,
    { type, data, runId, consumerId, path, onceKey }: EventDraft,
    endpoints: Parameters<typeof newDelivery>[0][],
  ): Promise<void> {
    const now = this.#now();
    const event = {
      event_id: newId('evt'),
      integration_id: integrationId,
      type,
      run_id: runId ?? null,
      consumer_id: consumerId ?? null,
      path: path ?? null,
      once_key: onceKey ?? null,
      body_json: JSON.stringify({ type, timestamp: iso(now), data: { apiIntegrationId: integrationId, ...data } }),
      created_at: now,
    };
    if ((await tx.run(insertEvent, event)) === 0) return;
    await Promise.all(endpoints.map((endpoint) => tx.run(insertDelivery, newDelivery(endpoint, event, now))));
  }

  /** Call it after the commit: the new deliveries are posted immediately. */
  committed(integrationId: IntegrationId): void {
    if (this.#cache.mayHave(integrationId)) this.onCommitted();
  }
}
