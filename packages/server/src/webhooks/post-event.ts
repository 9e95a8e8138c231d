import { FetchFailed, type FetchFailure, type PostAnswer, type PostGuarded } from '@runwire/guarded-fetch';
import type { ClaimedRow, EndpointToPost } from '../store/queries/webhook-claims.ts';
import { parseRetryAfter } from './attempt-schedule.ts';
import type { WebhookSecrets } from './webhook-secrets.ts';

const KEPT_BYTES = 256;

/** What an attempt ended with. */
export interface AttemptOutcome {
  readonly isDelivered: boolean;
  /** True if the receiver wants nothing more at this address. */
  readonly isGone: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly answer: string | null;
  readonly retryAfterMs: number | null;
}

export interface PostDeps {
  readonly post: PostGuarded;
  readonly secrets: WebhookSecrets;
  readonly now: () => number;
  /** The setting that allows addresses, for the sentence of a refusal. */
  readonly allowSetting: string;
}

/** Posts an event once, as Standard Webhooks. Rejects only if the signal is aborted. */
export async function postEvent(
  { post, secrets, now, allowSetting }: PostDeps,
  endpoint: EndpointToPost & { readonly url: string },
  delivery: Pick<ClaimedRow, 'event_id' | 'body_json'>,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const at = now();
  const timestamp = Math.floor(at / 1000);
  const { event_id: eventId, body_json: body } = delivery;
  const headers = {
    'content-type': 'application/json',
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.sign(endpoint, eventId, timestamp, body, at),
  };
  try {
    return answered(await post(new URL(endpoint.url), { method: 'POST', headers, body }, signal), now());
  } catch (error) {
    signal.throwIfAborted();
    const kind = error instanceof FetchFailed ? error.kind : 'broken';
    const sentence = toSentence(kind, allowSetting);
    return { isDelivered: false, isGone: false, status: null, error: sentence, answer: null, retryAfterMs: null };
  }
}

function answered({ status, retryAfter, bytes }: PostAnswer, now: number): AttemptOutcome {
  const isDelivered = status >= 200 && status < 300;
  return {
    isDelivered,
    isGone: status === 410,
    status,
    error: isDelivered ? null : `The receiver answered ${status}.`,
    answer: Buffer.from(bytes.subarray(0, KEPT_BYTES)).toString(),
    retryAfterMs: isDelivered ? null : parseRetryAfter(retryAfter, now),
  };
}

function toSentence(kind: FetchFailure, setting: string): string {
  switch (kind) {
    case 'refused':
      return `The address is not on the public internet, or is this server itself; allow it with ${setting}.`;
    case 'unresolved':
      return "The receiver's host name could not be looked up.";
    case 'unreachable':
      return 'The receiver could not be reached, or its certificate is not valid.';
    case 'too_slow':
      return 'The receiver did not answer in time.';
    default:
      return 'The receiver closed the connection, or sent an answer that is not HTTP.';
  }
}
