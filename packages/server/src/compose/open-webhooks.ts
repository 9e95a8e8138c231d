import { GuardedFetcher } from '@runwire/guarded-fetch';
import { DeliveryLoop, POSTS_PER_NODE } from '../webhooks/delivery-loop.ts';
import { EndpointCache } from '../webhooks/endpoint-cache.ts';
import type { EndpointDeps } from '../webhooks/endpoint-deps.ts';
import { EventOutbox } from '../webhooks/event-outbox.ts';
import { WebhookSecrets } from '../webhooks/webhook-secrets.ts';
import type { Foundation } from './foundation.ts';
import type { OpenedAccounts } from './open-accounts.ts';

const POST_MS = 20_000;
const ANSWER_BYTES = 4096;

export interface OpenedWebhooks {
  readonly outbox: EventOutbox;
  readonly endpoints: EndpointDeps;
  readonly deliveries: DeliveryLoop;
}

/** Opens the outbox of events, the endpoints, and the loop that posts. The loop begins when it is started. */
export async function openWebhooks(
  { store, secret, config, overrides, logger, metrics, now, stack }: Foundation,
  { changes, newBudget }: OpenedAccounts,
): Promise<OpenedWebhooks> {
  const cache = new EndpointCache(store.reads, changes, (error) =>
    logger.warn({ err: error }, 'webhook endpoints could not be read; retrying'),
  );
  await cache.load();
  const secrets = new WebhookSecrets(secret);
  const allow = config.webhookAllow;
  const { network, waitAt } = overrides;
  const fetcher = new GuardedFetcher({
    allow,
    maxBytes: ANSWER_BYTES,
    maxMs: POST_MS,
    ...(network === undefined ? {} : { network }),
  });
  const deliveries = stack.use(
    new DeliveryLoop({
      store,
      cache,
      budget: newBudget(POSTS_PER_NODE),
      post: fetcher.post.bind(fetcher),
      secrets,
      allowSetting: allow.setting,
      now,
      waitAt,
      logger,
      metrics,
    }),
  );
  const wake = () => deliveries.wake();
  return {
    outbox: new EventOutbox(cache, now, wake),
    endpoints: { store, change: (job) => changes.change(job), secrets, allow, now, wake },
    deliveries,
  };
}
