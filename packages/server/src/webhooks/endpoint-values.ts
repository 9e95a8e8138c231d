import { checkFetchUrl, type FetchAllow } from '@runwire/guarded-fetch/url-rules';
import { Refusal } from '../domain/refusal.ts';
import { ALL_EVENTS } from '../domain/webhook.ts';

export interface EndpointInput {
  readonly url?: string | null;
  readonly events?: readonly string[];
  readonly description?: string | null;
}

interface EndpointValues {
  readonly url: string | null;
  readonly events: string;
  readonly description_json: string | null;
}

/**
 * The given fields take precedence over the stored ones. A URL to which nothing could ever be posted is refused here; its
 * addresses are checked at every attempt.
 */
export function endpointValues(input: EndpointInput, before: EndpointValues, allow: FetchAllow): EndpointValues {
  const { url, events, description } = input;
  const checked = url === undefined || url === null ? null : checkFetchUrl(url, allow);
  if (checked !== null && 'problem' in checked) throw new Refusal('invalid_request', `\`url\` ${checked.problem}.`);
  return {
    url: url === undefined ? before.url : url,
    events: events === undefined ? before.events : events.includes(ALL_EVENTS) ? ALL_EVENTS : events.join(','),
    description_json:
      description === undefined ? before.description_json : description === null ? null : JSON.stringify(description),
  };
}
