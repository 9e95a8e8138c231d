import { createHmac, hkdfSync } from 'node:crypto';
import { LruCache } from '@runwire/lib/lru-cache.ts';

/** How long the secret before the current one signs too. */
export const BOTH_SIGN_MS = 86_400_000;
const KEPT_SECRETS = 1000;

interface SecretNumbers {
  readonly endpoint_id: string;
  readonly secret_number: number;
  readonly rotated_at: number | null;
}

/** Derives the secrets of endpoints from the installation's secret, so that no secret is stored or in a backup. */
export class WebhookSecrets {
  readonly #secret: string;
  readonly #derived = new LruCache<string, Buffer>(KEPT_SECRETS);

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** The current secret, as receivers configure it. */
  show({ endpoint_id: endpointId, secret_number: number }: SecretNumbers): string {
    return `whsec_${this.#derive(endpointId, number).toString('base64')}`;
  }

  /** The value of `webhook-signature`: one signature, or two for a day after a rotation. */
  sign(endpoint: SecretNumbers, eventId: string, timestamp: number, body: string, now: number): string {
    const { endpoint_id: endpointId, secret_number: number, rotated_at: rotatedAt } = endpoint;
    const numbers = rotatedAt !== null && now < rotatedAt + BOTH_SIGN_MS ? [number, number - 1] : [number];
    return numbers
      .map((one) => {
        const hmac = createHmac('sha256', this.#derive(endpointId, one));
        return `v1,${hmac.update(`${eventId}.${timestamp}.${body}`).digest('base64')}`;
      })
      .join(' ');
  }

  #derive(endpointId: string, number: number): Buffer {
    const info = `runwire webhook ${endpointId} ${number}`;
    const known = this.#derived.get(info);
    if (known !== undefined) return known;
    const secret = Buffer.from(hkdfSync('sha256', this.#secret, '', info, 32));
    this.#derived.set(info, secret);
    return secret;
  }
}
