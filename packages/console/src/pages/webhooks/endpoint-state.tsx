import type { WebhookEndpoint } from '@runwire/client';
import { Badge } from '../../ui/feedback.tsx';

type State = Pick<WebhookEndpoint, 'active' | 'disabledReason' | 'failingSince'>;

/** Shows if events are sent. */
export function EndpointState({ active, disabledReason, failingSince }: State) {
  if (disabledReason !== null) return <Badge tone="bad">disabled</Badge>;
  if (!active) return <Badge tone="warn">paused</Badge>;
  if (failingSince !== null) return <Badge tone="bad">failing</Badge>;
  return <Badge tone="good">active</Badge>;
}
