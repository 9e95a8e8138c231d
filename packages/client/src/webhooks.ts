import type { WebhookEvent } from '@runwire/contract';
import { invalidRequest, RunwireError } from './errors.ts';
import { parseObject } from './json.ts';

/** A webhook's event, with the id by which a receiver recognises an event that it has already handled. */
export type VerifiedWebhook = WebhookEvent & {
  /** The header `webhook-id`: the same for every attempt, endpoint, redelivery and replay. */
  readonly eventId: string;
};

/** Headers as `Request` has them, or as Node, Express and serverless platforms pass them. Names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far the sender's clock and ours may differ. 300 by default. */
  readonly toleranceSeconds?: number;
}

/** The request is not a webhook that was signed with one of the secrets in the last minutes: answer 400. */
export class WebhookVerificationError extends RunwireError {
  constructor(message: string) {
    super({ code: 'webhook_not_verified', message });
  }
}

/**
 * Checks that a webhook is from the server, by the rules of Standard Webhooks, and returns its event. Rejects with a
 * `WebhookVerificationError` if not.
 *
 * `body` is the request's body as it arrived, before any parser: other bytes have another signature. During a rotation
 * pass the old and the new secret.
 */
export async function verifyWebhook(
  body: string | ArrayBuffer | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<VerifiedWebhook> {
  const bytes = toBytes(body);
  const keys = [secret].flat().map(toKey);
  if (keys.length === 0) throw invalidRequest('No secret; pass the secret of the endpoint.');
  const eventId = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = readHeader(headers, 'webhook-signature');
  checkTime(timestamp, toleranceSeconds);
  if (!(await isSigned(`${eventId}.${timestamp}.`, bytes, { keys, signatures }))) {
    const causes = 'the secret is another one, or the body was changed (pass it as it arrived, before any parser)';
    throw new WebhookVerificationError(`No signature in \`webhook-signature\` matches: ${causes}.`);
  }
  const event = parseObject(new TextDecoder().decode(bytes));
  if (typeof event.type !== 'string') throw new WebhookVerificationError('The signed body is not an event.');
  return { ...event, eventId } as unknown as VerifiedWebhook;
}

function toBytes(body: unknown): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer || body instanceof Uint8Array) return new Uint8Array(body);
  throw invalidRequest('`body` must be a string or bytes: the body as it arrived, not the parsed JSON.');
}

function toKey(secret: unknown): Uint8Array<ArrayBuffer> {
  const [, encoded] = /^whsec_([\w+/-]+={0,2})$/.exec(String(secret)) ?? [];
  try {
    if (encoded) return Uint8Array.from(atob(encoded.replace(/-/g, '+').replace(/_/g, '/')), (it) => it.charCodeAt(0));
  } catch {
    // Not base64: reported like any other text.
  }
  throw invalidRequest('The secret must be `whsec_` and base64, as it was shown when the endpoint was created.');
}

function readHeader(headers: WebhookHeaders, name: string): string {
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const text = [value].flat()[0];
  if (text) return text;
  throw new WebhookVerificationError(`The header \`${name}\` is missing: the request is not a webhook.`);
}

/** A signature is valid for some minutes only. So a recorded request cannot be sent again later. */
function checkTime(timestamp: string, toleranceSeconds: number): void {
  const aheadSeconds = /^\d{1,15}$/.test(timestamp) ? Number(timestamp) - Date.now() / 1000 : Number.NaN;
  if (Math.abs(aheadSeconds) <= toleranceSeconds) return;
  const problem = Number.isNaN(aheadSeconds)
    ? 'is not a time in seconds'
    : `is ${Math.round(Math.abs(aheadSeconds))} s ${aheadSeconds > 0 ? 'ahead of' : 'older than'} this machine's clock`;
  throw new WebhookVerificationError(`The header \`webhook-timestamp\` ${problem}.`);
}

async function isSigned(
  prefix: string,
  body: Uint8Array,
  { keys, signatures }: { readonly keys: readonly Uint8Array<ArrayBuffer>[]; readonly signatures: string },
): Promise<boolean> {
  const start = new TextEncoder().encode(prefix);
  const content = new Uint8Array(start.length + body.length);
  content.set(start);
  content.set(body, start.length);
  const found = signatures.split(' ').filter((text) => text.startsWith('v1,'));
  let matches = false;
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    const hash = new Uint8Array(await crypto.subtle.sign('HMAC', key, content));
    const expected = `v1,${btoa(String.fromCharCode(...hash))}`;
    for (const signature of found) matches = isEqual(expected, signature) || matches;
  }
  return matches;
}

/** Compares in a time that does not depend on which characters differ. */
function isEqual(expected: string, given: string): boolean {
  let difference = expected.length ^ given.length;
  for (let index = 0; index < expected.length; index += 1) {
    difference |= expected.charCodeAt(index) ^ given.charCodeAt(index);
  }
  return difference === 0;
}
