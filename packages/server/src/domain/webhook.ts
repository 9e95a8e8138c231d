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
