import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Runwire, WebhookDelivery, WebhookEndpointWithSecret } from '@runwire/client';
import { hasCode, isUnreachable, toFailure } from './exit-codes.ts';

/** What became of one post. */
export interface Attempt {
  readonly at: string;
  readonly deliveryId: string;
  readonly eventId: string;
  readonly type: string;
  readonly runId: string | null;
  readonly attempt: number;
  /** The receiver's answer. Null if there was none. */
  readonly status: number | null;
  /** Why the attempt failed. Null if it succeeded. */
  readonly error: string | null;
  /** When it is tried again. Null if it is not. */
  readonly nextInSeconds: number | null;
  readonly milliseconds: number;
}

export interface ForwardOptions {
  readonly forwardTo: string;
  readonly show: (attempt: Attempt) => void;
  readonly warn: (sentence: string) => void;
  readonly signal: AbortSignal;
}

const LOOK_MS = 1000;
/** A whole look finds deliveries whose transaction committed after that of newer ones. */
const WHOLE_LOOK_MS = 30_000;
/** How much older than the newest delivery a late one can be. */
const LATE_MS = 600_000;
const MAX_POSTS = 4;
const POST_TIMEOUT_MS = 20_000;
const PAUSES_SECONDS = [1, 5, null] as const;
const MAX_OUTAGE_PAUSE_MS = 10_000;
const ANSWER_CHARACTERS = 256;

/** Follows the deliveries of an endpoint that has no address, and posts each of them once, signed, to another address. */
export class WebhookForwarder {
  readonly #client: Runwire;
  readonly #endpoint: WebhookEndpointWithSecret;
  readonly #options: ForwardOptions;
  readonly #key: Buffer;
  /** The deliveries of this session: a list is read again and again. */
  readonly #known = new Set<string>();
  readonly #posts = new Set<Promise<void>>();
  readonly #failed = Promise.withResolvers<never>();
  #newestAt: string | null = null;
  #wholeLookAt = 0;

  constructor(client: Runwire, endpoint: WebhookEndpointWithSecret, options: ForwardOptions) {
    this.#client = client;
    this.#endpoint = endpoint;
    this.#options = options;
    this.#key = Buffer.from(endpoint.secret.replace(/^whsec_/, ''), 'base64');
  }

  /** Rejects at the signal, or when the server refuses to list the deliveries. */
  run(): Promise<never> {
    return Promise.race([this.#follow(), this.#failed.promise]);
  }

  async #follow(): Promise<never> {
    for (;;) {
      // Posts are in the order of the events, except for attempts after the first.
      for (const delivery of (await this.#readNew()).toReversed()) {
        while (this.#posts.size >= MAX_POSTS) await Promise.race(this.#posts);
        const post: Promise<void> = this.#forward(delivery)
          .catch(this.#failed.reject)
          .finally(() => this.#posts.delete(post));
        this.#posts.add(post);
      }
      await this.#pause(LOOK_MS);
    }
  }

  /** Reads deliveries, the newest first, up to a page that has no new one. */
  async #readNew(): Promise<WebhookDelivery[]> {
    const isWhole = performance.now() >= this.#wholeLookAt;
    const from = this.#newestAt === null ? undefined : new Date(Date.parse(this.#newestAt) - LATE_MS).toISOString();
    const found: WebhookDelivery[] = [];
    const known = new Set<string>();
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await this.#whileReachable((options) => this.#list(from, options).page(cursor ?? undefined));
      const news = page.items.filter(({ deliveryId }) => !this.#known.has(deliveryId) && !known.has(deliveryId));
      found.push(...news);
      for (const { deliveryId } of news) known.add(deliveryId);
      cursor = isWhole || news.length > 0 ? page.nextCursor : null;
    }
    if (isWhole) this.#wholeLookAt = performance.now() + WHOLE_LOOK_MS;
    for (const deliveryId of known) this.#known.add(deliveryId);
    for (const { createdAt } of found) if (createdAt > (this.#newestAt ?? '')) this.#newestAt = createdAt;
    return found;
  }

  #list(from: string | undefined, options: { readonly signal: AbortSignal }) {
    return this.#client.webhooks.deliveries({ endpointId: this.#endpoint.endpointId, from }, options);
  }

  /** Repeats a request during an outage. */
  async #whileReachable<T>(request: (options: { readonly signal: AbortSignal }) => Promise<T>): Promise<T> {
    const { signal, warn } = this.#options;
    for (let pauseMs = LOOK_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_OUTAGE_PAUSE_MS)) {
      try {
        const answer = await request({ signal });
        if (pauseMs > LOOK_MS) warn('The server answers again.');
        return answer;
      } catch (error) {
        signal.throwIfAborted();
        if (!isUnreachable(error) && !(error instanceof Error && 'retryable' in error && error.retryable)) throw error;
        if (pauseMs === LOOK_MS) warn(`${toFailure(error).message} It is asked again until it answers.`);
        await this.#pause(pauseMs);
      }
    }
  }

  async #forward(delivery: WebhookDelivery): Promise<void> {
    const { endpointId } = this.#endpoint;
    const { deliveryId, eventId, type, runId } = delivery;
    const body = await this.#whileReachable((options) =>
      this.#client.webhooks.delivery({ endpointId, deliveryId }, options),
    ).then(
      (whole) => whole.body,
      (error) => {
        // The person that the event is about was erased.
        if (hasCode(error, 'delivery_not_found')) return null;
        throw error;
      },
    );
    if (body === null) return;
    for (const [index, pause] of PAUSES_SECONDS.entries()) {
      const at = new Date();
      const outcome = await this.#post(eventId, body, at);
      const nextInSeconds = outcome.error === null ? null : pause;
      this.#options.show({
        ...{ at: at.toISOString(), deliveryId, eventId, type, runId, attempt: index + 1, ...outcome, nextInSeconds },
        milliseconds: Date.now() - at.getTime(),
      });
      if (nextInSeconds === null) return;
      await this.#pause(1000 * nextInSeconds);
    }
  }

  async #post(eventId: string, body: string, at: Date): Promise<Pick<Attempt, 'status' | 'error'>> {
    const { forwardTo, signal } = this.#options;
    const timestamp = Math.floor(at.getTime() / 1000);
    const signature = createHmac('sha256', this.#key).update(`${eventId}.${timestamp}.${body}`).digest('base64');
    try {
      const answer = await fetch(forwardTo, {
        ...{ method: 'POST', body, redirect: 'manual' },
        headers: {
          'content-type': 'application/json',
          'webhook-id': eventId,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': `v1,${signature}`,
        },
        signal: AbortSignal.any([signal, AbortSignal.timeout(POST_TIMEOUT_MS)]),
      });
      const text = (await answer.text()).slice(0, ANSWER_CHARACTERS).trim();
      return { status: answer.status, error: answer.ok ? null : text || 'is not 2xx' };
    } catch (error) {
      signal.throwIfAborted();
      const { cause = error } = error as Error;
      return { status: null, error: (cause as NodeJS.ErrnoException).code ?? String(cause) };
    }
  }

  #pause(milliseconds: number): Promise<void> {
    return sleep(milliseconds, undefined, { signal: this.#options.signal });
  }
}
