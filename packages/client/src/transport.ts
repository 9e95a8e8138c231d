import type { Operations } from '@runwire/contract';
import type * as routes from '@runwire/contract/routes';
import { type Credentials, listClaims } from './credentials.ts';
import { ConnectionLostError, errorOfAnswer, invalidRequest, RunwireError } from './errors.ts';
import type { RunHandle } from './run-types.ts';
import { pauseMs, sleep, type Timing, Watchdog, watched } from './timing.ts';

type Routes = typeof routes;
/** Method and path of an operation. */
export type Route = Routes[keyof Routes];
/** The operation of a route. */
export type OperationOf<R extends Route> = {
  [Id in keyof Routes]: Routes[Id] extends R ? Id : never;
}[keyof Routes];
export type AnswerOf<R extends Route> = Operations[OperationOf<R>]['answer'];

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface SentRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** A request with its answer. */
export interface Exchange<T> {
  readonly answer: Response;
  /** The error of an answer that is no success. */
  readonly error: RunwireError | null;
  /** What was read of a success. */
  readonly value: T | null;
}

/** Reads an answer while the watchdog is awake. */
export type Read<T> = (answer: Response, watchdog: Watchdog) => T | Promise<T>;

export type Fetch = typeof fetch;

export interface TransportOptions {
  readonly integration?: string | undefined;
  readonly fetch: Fetch;
  readonly timing: Timing;
}

type Input = Readonly<Record<string, unknown>>;

/** Calls that have the same effect if they are sent twice. */
const isRepeatable = (route: Route) => /^(GET|HEAD|PUT)|(cancel|_upload)$/.test(route);
const MAX_RETRIES = 3;

/**
 * Returns an id as text. Throws if it is missing, or a part of a path with a meaning of its own: deleting the chat `..`
 * would delete its integration.
 */
export function checkedId(name: string, value: unknown): string {
  const id = String(value ?? '');
  if (/^\.{0,2}$/.test(id)) throw invalidRequest(`\`${name}\` cannot be ${JSON.stringify(value)}.`);
  return id;
}

/** Puts the path's fields into the path, and returns the other fields. */
export function fill(route: Route, input: Input): { method: string; path: string; rest: Input } {
  const [method = '', template = ''] = route.split(' ');
  const rest: Record<string, unknown> = { ...input };
  const path = template.replace(/:(\w+)/g, (_, name: string) => {
    const value = checkedId(name, rest[name]);
    delete rest[name];
    return encodeURIComponent(value);
  });
  return { method, path, rest };
}

const toQuery = (fields: Input) => {
  const given = Object.entries(fields).filter(([name, value]) => {
    // A filter that is left out by mistake would show the items of others.
    if (value === null) throw invalidRequest(`\`${name}\` cannot be null; leave it out.`);
    return value !== undefined;
  }) as [string, string][];
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
};

/** Sends requests with the client's key. */
export class Transport {
  readonly #baseUrl: string;
  readonly #credentials: Credentials;
  readonly #integration: string | undefined;
  readonly fetch: Fetch;
  readonly timing: Timing;
  /** True after the first answer, whatever it was. */
  hasAnswered = false;

  constructor(baseUrl: string, credentials: Credentials, options: TransportOptions) {
    if (!/^https?:[^?#]+$/i.test(baseUrl) || !URL.canParse(baseUrl)) {
      const given = JSON.stringify(baseUrl);
      throw invalidRequest(`\`baseUrl\` is ${given}; set RUNWIRE_URL to an address like http://127.0.0.1:8787.`);
    }
    this.#baseUrl = new URL(baseUrl).href.replace(/\/+$/, '');
    this.#credentials = credentials;
    this.#integration = options.integration;
    const { fetch } = options;
    // Called without `this`: browsers refuse `fetch` as a method of another object.
    this.fetch = (...request) => fetch(...request);
    this.timing = options.timing;
  }

  /** A request's integration: its own, that of the client, or that of the client token. */
  async integration(given?: string | null): Promise<string> {
    const found = given ?? this.#integration ?? listClaims(await this.#credentials.token()).apiIntegrationId;
    if (found !== undefined) return found;
    throw invalidRequest('No integration; set `integration`.');
  }

  /** Resolves to any answer, also to a refusal. If a token is refused, a function as key is asked for another, once. */
  async send({ method, path, body, headers, signal }: SentRequest): Promise<Response> {
    for (let isAgain = false; ; isAgain = true) {
      const token = await this.#credentials.token();
      const answer = await this.fetch(`${this.#baseUrl}${path}`, {
        ...{ method, signal, ...(body && { body }) },
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }), ...headers },
      });
      this.hasAnswered = true;
      if (answer.status !== 401 || isAgain || !this.#credentials.forget(token)) return answer;
      // Read to its end: browsers report other requests as aborted.
      await answer.text();
    }
  }

  /** The error after the last attempt. The reason is that of the system, such as `connect ECONNREFUSED …`. */
  lost(handle: RunHandle | null, cause: unknown, advice = 'check `baseUrl` and proxies'): ConnectionLostError {
    const { cause: reason = cause } = Object(cause);
    const text = reason?.message || reason?.code || cause;
    const message = `No whole answer from ${this.#baseUrl}: ${text}; ${advice}.`;
    return new ConnectionLostError(handle, 'connection_lost', message, cause);
  }

  /** Sends a request and reads its answer. Rejects if the answer does not arrive whole. */
  async exchange<T>(
    request: Omit<SentRequest, 'signal'>,
    read: Read<T>,
    outer: AbortSignal | undefined,
  ): Promise<Exchange<T>> {
    const watchdog = new Watchdog(this.timing, request.body?.length ?? 0, outer);
    try {
      const answer = await this.send({ ...request, signal: watchdog.signal });
      return answer.ok
        ? { answer, error: null, value: await read(answer, watchdog) }
        : { answer, error: await errorOfAnswer(answer), value: null };
    } finally {
      watchdog.stop();
    }
  }

  json<R extends Route>(route: R, input: Input, options: CallOptions = {}): Promise<AnswerOf<R>> {
    return this.call(route, input, options, toJson) as Promise<AnswerOf<R>>;
  }

  /**
   * Calls an operation, and reads its answer. Rejects with a `RunwireError` unless the answer is a whole success, or with
   * the signal's reason.
   */
  async call<T>(route: Route, input: Input, { signal }: CallOptions, read: Read<T>): Promise<T> {
    const fields = route.includes(':apiIntegrationId')
      ? { ...input, apiIntegrationId: await this.integration(input.apiIntegrationId as string | undefined) }
      : input;
    const { method, path, rest } = fill(route, fields);
    const hasBody = /^P/.test(method);
    const request = hasBody ? { method, path, body: JSON.stringify(rest) } : { method, path: path + toQuery(rest) };
    const maxRetries = isRepeatable(route) ? MAX_RETRIES : 0;
    const connectBy = Date.now() + this.timing.connectMs;
    for (let retries = 0; ; retries += 1) {
      let failure: RunwireError;
      try {
        const { error, value } = await this.exchange(request, read, signal);
        if (error === null) return value as T;
        failure = error;
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof RunwireError) throw error;
        failure = this.lost(null, error);
      }
      const waitMs = Math.max(pauseMs(this.timing, retries), 1000 * (failure.retryAfterSeconds ?? 0));
      const isUnreachable = !this.hasAnswered && Date.now() >= connectBy;
      const isFinal = (failure.status ?? 500) < 500 || waitMs > this.timing.maxPauseMs || isUnreachable;
      if (retries === maxRetries || isFinal) throw failure;
      await sleep(waitMs, signal);
    }
  }
}

/** Reads the JSON of an answer. A silence within it counts as a cut. */
export const toJson: Read<unknown> = ({ status, body }, watchdog) =>
  status === 204
    ? undefined
    : new Response(watched(body as ReadableStream<Uint8Array>, () => watchdog.restart())).json();
