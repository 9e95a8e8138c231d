import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Audit } from '../audit/audit.ts';
import type { IntegrationId } from '../domain/ids.ts';
import type { ListPosition } from '../domain/list-cursor.ts';
import { Refusal } from '../domain/refusal.ts';
import { ALL_EVENTS, type WebhookEventType } from '../domain/webhook.ts';
import { eventsBetween, insertDelivery, type StoredEventRow } from '../store/queries/webhook-deliveries.ts';
import type { Reads } from '../store/store.ts';
import { type EndpointDeps, findEndpoint } from './endpoint-deps.ts';
import { newDelivery } from './new-delivery.ts';

const MAX_EVENTS = 10_000;
/** Deliveries that one transaction makes, so that others do not wait long. */
const BATCH = 500;
/** Events that one query reads. */
const PART = 2000;

interface ReplayInput {
  readonly from: string;
  readonly to: string;
  readonly types?: readonly WebhookEventType[];
}

/** Makes new deliveries of stored events of a period, with their ids and bodies. */
export async function replayEvents(
  deps: EndpointDeps,
  integrationId: IntegrationId,
  endpointId: string,
  { from, to, types }: ReplayInput,
  audit: Audit,
): Promise<{ readonly deliveries: number }> {
  const fromMs = Date.parse(from);
  const toMs = Date.parse(to);
  if (fromMs >= toMs) throw new Refusal('invalid_request', '`from` must be before `to`.');
  const { reads } = deps.store;
  const { events: wanted } = await findEndpoint(reads, integrationId, endpointId);
  const own = wanted === ALL_EVENTS ? null : (wanted.split(',') as WebhookEventType[]);
  const events = await findEvents(reads, { integrationId, fromMs, toMs }, types ?? own);
  for (let begin = 0; begin < events.length; begin += BATCH) {
    const batch = events.slice(begin, begin + BATCH);
    await deps.store.transact('account', async (tx) => {
      const endpoint = await findEndpoint(tx, integrationId, endpointId);
      const now = deps.now();
      const rows = batch.map((event) => newDelivery(endpoint, { ...event, integration_id: integrationId }, now));
      await Promise.all(rows.map((row) => tx.run(insertDelivery, row)));
      const after = { from, to, types, deliveries: events.length };
      if (begin === 0) await audit(tx, { target: ['webhook', endpointId], integrationId, after });
    });
    deps.wake();
  }
  return { deliveries: events.length };
}

type EventRow = Pick<StoredEventRow, 'event_id' | 'type' | 'run_id' | 'created_at'>;

interface Period {
  readonly integrationId: IntegrationId;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The period's events with these types. Other requests run between the parts: the period may have a million other events. */
async function findEvents(reads: Reads, period: Period, types: readonly WebhookEventType[] | null) {
  const found: EventRow[] = [];
  for (let after: ListPosition | null = null; ; ) {
    const part: readonly EventRow[] = await reads.query(eventsBetween({ ...period, after, limit: PART }));
    found.push(...part.filter(({ type }) => types === null || types.includes(type)));
    if (found.length > MAX_EVENTS) {
      throw new Refusal('invalid_request', `The period has more than ${MAX_EVENTS} events; choose a shorter one.`);
    }
    const last = part.at(-1);
    if (last === undefined || part.length < PART) return found;
    after = { createdAt: Number(last.created_at), id: last.event_id };
    await nextTurn();
  }
}
