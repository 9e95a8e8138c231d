import { randomUUID } from 'node:crypto';
import { GuardedFetcher } from '@runwire/guarded-fetch';
import { FairBudget } from '@runwire/lib/fair-budget.ts';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import type { Store } from '@runwire/server/src/store/store.ts';
import { EventOutbox } from '@runwire/server/src/webhooks/event-outbox.ts';
import { WebhookSecrets } from '@runwire/server/src/webhooks/webhook-secrets.ts';
import { rows } from './tampered-store.ts';

/** Stores events in a transaction of its own, after what they report. */
function storeBeside(): Overrides {
  const stores: Store[] = [];
  const { record } = EventOutbox.prototype;
  EventOutbox.prototype.record = async function (this: EventOutbox, _, integrationId, types, draft) {
    const drafts = await draft();
    setTimeout(() => {
      const stored = stores[0]?.transact('account', (tx) => record.call(this, tx, integrationId, types, () => drafts));
      stored?.catch(() => {});
    }, 500);
  };
  return {
    wrapStore: (store) => {
      stores.push(store);
      return store;
    },
  };
}

/** Signs other bytes than the posted ones. */
function signAnotherBody(): Overrides {
  const { sign } = WebhookSecrets.prototype;
  WebhookSecrets.prototype.sign = function (this: WebhookSecrets, endpoint, eventId, timestamp, body, now) {
    return sign.call(this, endpoint, eventId, timestamp, `${body} `, now);
  };
  return {};
}

/** Each attempt has an id of its own. */
const newIdPerAttempt = () =>
  rows('claimed webhook deliveries', (found) => found.map((row) => ({ ...row, event_id: `evt_${randomUUID()}` })));

/** Checks an address only when its endpoint is made. */
function checkAtCreation({ network }: Overrides): Overrides {
  GuardedFetcher.prototype.post = async (url, _, signal) => {
    const [address = url.hostname] = (await network?.resolve(url.hostname, signal)) ?? [];
    await network?.dial({ address, port: 443, servername: url.hostname }, signal);
    return { status: 500, retryAfter: null, bytes: new Uint8Array() };
  };
  return {};
}

/** All endpoints share one queue with one post at a time. */
const POSTS_PER_NODE = 32;
const oneQueue = (): Overrides => ({
  newBudget: (total) => new FairBudget(total === POSTS_PER_NODE ? 1 : total, () => false),
});

export const WEBHOOK_FAULTS = {
  'beside-the-transaction': storeBeside,
  'sign-another-body': signAnotherBody,
  'new-id-per-attempt': newIdPerAttempt,
  'check-at-creation': checkAtCreation,
  'one-queue': oneQueue,
};
