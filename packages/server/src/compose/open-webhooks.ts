import { GuardedFetcher } from '@runwire/guarded-fetch';
import type { AgencyError } from '../agencies/fault.ts';
import { checkAllowances } from '../webhooks/check-allowances.ts';
import { DeliveryLoop, POSTS_PER_NODE } from '../webhooks/delivery-loop.ts';
import type { EndpointDeps } from '../webhooks/endpoint-deps.ts';
import type { EventOutbox } from '../webhooks/event-outbox.ts';
import { reportBrokenAgency } from '../webhooks/report-broken-agency.ts';
import { WebhookSecrets } from '../webhooks/webhook-secrets.ts';
import type { Foundation } from './foundation.ts';
import type { OpenedAccounts } from './open-accounts.ts';

const POST_MS = 20_000;
const ANSWER_BYTES = 4096;

export interface OpenedWebhooks {
  /** Reports the agencies that are broken at the start. */
  readonly reportBroken: () => void;
  readonly outbox: EventOutbox;
  readonly endpoints: EndpointDeps;
  readonly deliveries: DeliveryLoop;
}

/** Opens the outbox of events, the endpoints, and the loop that posts. The loop begins when it is started. */
export async function openWebhooks(
  {
    store,
    secret,
    config,
    overrides,
    logger,
    metrics,
    tracing,
    now,
    endpointCache,
    outbox,
    agencies,
    stack,
  }: Foundation,
  { changes, newBudget }: OpenedAccounts,
): Promise<OpenedWebhooks> {
  await endpointCache.follow(changes);
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
      cache: endpointCache,
      checkAllowances: () => checkAllowances(store, outbox),
      budget: newBudget(POSTS_PER_NODE),
      post: fetcher.post.bind(fetcher),
      secrets,
      allowSetting: allow.setting,
      now,
      waitAt,
      logger,
      metrics,
      tracing,
    }),
  );
  const report = (id: string, error: AgencyError) => {
    reportBrokenAgency(store, outbox, id, error).catch((cause: unknown) =>
      logger.warn({ err: cause, agency: id }, 'webhooks about a broken agency could not be stored'),
    );
  };
  agencies.onBroken = report;
  const wake = () => deliveries.wake();
  outbox.onCommitted = wake;
  return {
    reportBroken: () => {
      for (const { id, error } of agencies.list()) if (error !== null) report(id, error);
    },
    outbox,
    endpoints: {
      ...{ store, change: (job) => changes.change(job), secrets, allow, now, wake },
      skipRest: (endpointId) => deliveries.skipRest(endpointId),
    },
    deliveries,
  };
}
