export type WebhookEventType =
  | 'run.completed'
  | 'run.failed'
  | 'run.cancelled'
  | 'run.asked'
  | 'member.allowance_exhausted'
  | 'upload.completed'
  | 'agency.broken'
  | 'schedule.paused'
  | 'webhook.test';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'skipped';

/** Why the server disabled an endpoint: it answered 410, or only failed for 72 hours. */
export type DisabledReason = 'gone' | 'failing';

export const ALL_EVENTS = '*';

/** True if an endpoint with this column `events` wants the type. */
export const wantsEvent = (events: string, type: WebhookEventType): boolean =>
  events === ALL_EVENTS || events.split(',').includes(type);

/** How long a node may post a delivery before another node may claim it, at most. A post takes less than half as long. */
export const CLAIM_MS = 60_000;

/**
 * Claims end at multiples of this. So their times find them among an endpoint's pending deliveries, however many wait for
 * their next attempt.
 */
export const CLAIM_STEP_MS = 10_000;

/** The end of a claim that begins now: after 50 to 60 seconds. */
export const claimEnd = (now: number): number => firstClaimEnd(now) + CLAIM_MS - CLAIM_STEP_MS;

/** The next time at which a claim can end. */
export const firstClaimEnd = (now: number): number => (Math.floor(now / CLAIM_STEP_MS) + 1) * CLAIM_STEP_MS;
