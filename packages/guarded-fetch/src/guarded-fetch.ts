import type { IncomingMessage } from 'node:http';
import { unlessAborted } from '@runwire/lib/unless-aborted.ts';
import { FetchFailed, finalFailure } from './fetch-failed.ts';
import type { Network } from './network.ts';
import { isRedirect, nextHop } from './next-hop.ts';
import { openChecked } from './open-checked.ts';
import { ownAddresses } from './own-addresses.ts';
import { readBody } from './read-body.ts';
import { readStart } from './read-start.ts';
import { realNetwork } from './real-network.ts';
import { type GuardedRequest, PLAIN_GET, sendRequest } from './send-request.ts';
import { checkFetchUrl } from './url-rules/check-url.ts';
import type { FetchAllow } from './url-rules/fetch-allow.ts';

export interface GuardedFetchOptions {
  readonly allow: FetchAllow;
  readonly maxBytes: number;
  /** The time limit for everything together: name resolution, connections, redirects and bytes. */
  readonly maxMs: number;
  readonly network?: Network;
  /** This machine's addresses, from which nothing is fetched unless `allow` names them. */
  readonly ownAddresses?: () => readonly string[];
  readonly userAgent?: string;
}

export interface FetchedFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The header as the server sent it. */
  readonly contentType: string | null;
  /** The URL after redirects. */
  readonly url: URL;
}

export interface GuardedAnswer {
  readonly status: number;
  /** A redirect's target, as the server sent it. */
  readonly location: string | null;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The answer to a post, of which the beginning is read. */
export interface PostAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** At most `maxBytes`, also if the answer is longer or was cut. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type PostGuarded = (url: URL, request: GuardedRequest, signal: AbortSignal) => Promise<PostAnswer>;

const MAX_REDIRECTS = 3;

/**
 * The only way to dial an address that a caller, a model or a tool names.
 *
 *   text checked → name resolved once → every address checked → one of them dialled → asked → body
 *        ↑                                                                            ↓
 *        └───────────────────────────── 301, 302, 303, 307, 308: at most three times ─┘
 *
 * Each hop has its own connection, which is destroyed after it, so no other hop or caller can use it. Proxy variables
 * of the environment are not read.
 */
export class GuardedFetcher {
  readonly #options: GuardedFetchOptions;
  readonly #network: Network;

  constructor(options: GuardedFetchOptions) {
    this.#options = options;
    this.#network = options.network ?? realNetwork;
  }

  /** Rejects with `FetchFailed` or the signal's reason. `onSize` is called once, if the server announces the size. */
  async fetch(url: URL, signal: AbortSignal, onSize?: (bytes: number) => void): Promise<FetchedFile> {
    return this.#within(url, signal, (checked, stop) => this.#follow(checked, stop, onSize));
  }

  /** Sends one request and returns any answer. Redirects are not followed. Rejects as `fetch` does. */
  ask(url: URL, request: GuardedRequest, signal: AbortSignal): Promise<GuardedAnswer> {
    const { maxBytes } = this.#options;
    return this.#within(url, signal, (checked, stop) =>
      this.#exchange(checked, request, stop, async (answer) => ({
        status: answer.statusCode ?? 0,
        location: answer.headers.location ?? null,
        bytes: await readBody(answer, maxBytes),
      })),
    );
  }

  /** Sends one request and returns any answer with the beginning of its body. Redirects are not followed. */
  post(url: URL, request: GuardedRequest, signal: AbortSignal): Promise<PostAnswer> {
    const { maxBytes } = this.#options;
    return this.#within(url, signal, (checked, stop) =>
      this.#exchange(checked, request, stop, async (answer) => ({
        status: answer.statusCode ?? 0,
        retryAfter: answer.headers['retry-after'] ?? null,
        bytes: await readStart(answer, maxBytes),
      })),
    );
  }

  /** Checks the URL's text, and limits the time of all work. */
  async #within<T>(url: URL, signal: AbortSignal, work: (checked: URL, stop: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const { allow, maxMs } = this.#options;
    const checked = checkFetchUrl(url.href, allow);
    if ('problem' in checked) throw new FetchFailed('refused', `it ${checked.problem}`, { isFinal: true });
    const stop = new AbortController();
    const onAbort = () => stop.abort(signal.reason);
    const onLate = () => stop.abort(new FetchFailed('too_slow', `it took longer than ${maxMs / 1000} seconds`));
    const timer = setTimeout(onLate, maxMs);
    signal.addEventListener('abort', onAbort);
    try {
      return await work(checked.url, stop.signal);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #follow(first: URL, signal: AbortSignal, onSize?: (bytes: number) => void): Promise<FetchedFile> {
    let url = first;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const found = await this.#hop(url, signal, onSize);
      if (!(found instanceof URL)) return found;
      url = found;
    }
    throw finalFailure(
      'redirects',
      `its server redirects more than ${MAX_REDIRECTS} times`,
      'use a link that leads to the file itself',
    );
  }

  /** Resolves to the file, or to the URL that the server redirects to. */
  #hop(url: URL, signal: AbortSignal, onSize?: (bytes: number) => void): Promise<FetchedFile | URL> {
    const { allow, maxBytes } = this.#options;
    return this.#exchange(url, PLAIN_GET, signal, async (answer) => {
      const { statusCode: status = 0, headers } = answer;
      if (isRedirect(status)) return nextHop(url, headers.location, allow);
      if (status !== 200) throw new FetchFailed('status', `its server answered ${status}`, { status });
      const bytes = await readBody(answer, maxBytes, onSize);
      return { bytes, contentType: headers['content-type'] ?? null, url };
    });
  }

  /** Sends a request over a connection of its own. */
  async #exchange<T>(
    url: URL,
    request: GuardedRequest,
    signal: AbortSignal,
    read: (answer: IncomingMessage) => Promise<T>,
  ): Promise<T> {
    const { allow, userAgent = 'Runwire', ownAddresses: own = ownAddresses } = this.#options;
    const socket = await openChecked(url, { allow, network: this.#network, ownAddresses: own }, signal);
    // The request reports errors of its connection. Errors after the request do not matter.
    socket.on('error', () => {});
    try {
      const answer = await unlessAborted(signal, sendRequest(url, socket, userAgent, request));
      answer.on('error', () => {});
      return await unlessAborted(signal, read(answer));
    } finally {
      socket.destroy();
    }
  }
}
