import type { WebhookDelivery } from '@runwire/client';

export type EventType = WebhookDelivery['type'];

/** Every type of event, with what it reports. */
const TYPES: Readonly<Record<EventType, string>> = {
  'run.completed': 'A run has completed.',
  'run.failed': 'A run has failed.',
  'run.cancelled': 'A run was cancelled.',
  'run.asked': 'A run has ended with open questions.',
  'member.allowance_exhausted': 'A member has used up its allowance.',
  'upload.completed': 'A file was uploaded.',
  'agency.broken': 'An edit broke the agency.',
  'schedule.paused': 'The server paused a schedule.',
  'webhook.test': 'A test that a person or a program asked for.',
};

export const EVENT_TYPES = Object.entries(TYPES) as readonly (readonly [EventType, string])[];
