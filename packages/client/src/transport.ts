import type { Operations } from '@runwire/contract';
import type * as routes from '@runwire/contract/routes';
import { type Credentials, claimsOf } from './credentials.ts';
import { errorOfAnswer, InvalidRequestError, RunwireError } from './errors.ts';
import { pauseMs, sleep, type Timing, Watchdog } from './timing.ts';

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

/** Puts the fields of the path into the path, and returns the other fields. */
export function fill(route: Route, input: Input): { method: string; path: string; rest: Input } {
  const [method = '', template = ''] = route.split(' ');
  const rest: Record<string, unknown> = { ...input };
  const path = template.replace(/:(\w+)/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  return { method, path, rest };
}

const queryOf = (fields: Input) => {
  const given = Object.entries(fields).filter(([, value]) => value != null) as [string, string][];
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
};

/** Sends requests with the key of the client. */
export class Transport {
  readonly #baseUrl: string;
  readonly #credentials: Credentials;
  readonly #integration: string | undefined;
  readonly fetch: Fetch;
  readonly timing: Timing;

  constructor(baseUrl: string, credentials: Credentials, options: TransportOptions) {
    this.#baseUrl = new URL(baseUrl).href.replace(/\/+$/, '');
    this.#credentials = credentials;
    this.#integration = options.integration;
    const { fetch } = options;
    // Called without `this`: browsers refuse `fetch` as a method of another object.
    this.fetch = (...request) => fetch(...request);
    this.timing = options.timing;
  }

  /** The integration of a request: its own, that of the client, or that of the client token. */
  async integration(given?: string | null): Promise<string> {
    const found = given ?? this.#integration ?? claimsOf(await this.#credentials.token()).apiIntegrationId;
    if (found !== undefined) return found;
    throw new InvalidRequestError({
      code: 'invalid_request',
      message: 'No integration is named; set `integration` of the client.',
      admitted: false,
    });
  }

  /** Resolves to any answer, also to a refusal. If a token is refused, a function as key is asked for another, once. */
  async send({ method, path, body, headers, signal }: SentRequest): Promise<Response> {
    for (let isAgain = false; ; isAgain = true) {
      const token = await this.#credentials.token();
      const answer = await this.fetch(`${this.#baseUrl}${path}`, {
        ...{ method, signal, ...(body && { body }) },
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }), ...headers },
      });
      if (answer.status !== 401 || isAgain || !this.#credentials.forget(token)) return answer;
      await answer.body?.cancel();
    }
  }

  /** Calls an operation. Rejects with a `RunwireError` unless the answer is a success. */
  async call(route: Route, input: Input, options: CallOptions = {}): Promise<Response> {
    const fields = route.includes(':apiIntegrationId')
      ? { ...input, apiIntegrationId: await this.integration(input.apiIntegrationId as string | undefined) }
      : input;
    const { method, path, rest } = fill(route, fields);
    const hasBody = /^P/.test(method);
    const request = hasBody ? { method, path, body: JSON.stringify(rest) } : { method, path: path + queryOf(rest) };
    const maxRetries = isRepeatable(route) ? MAX_RETRIES : 0;
    for (let retries = 0; ; retries += 1) {
      const found = await this.#attempt(request, options.signal);
      if (found instanceof Response) return found;
      if (retries === maxRetries || (found instanceof RunwireError && (found.status ?? 0) < 500)) throw found;
      await sleep(pauseMs(this.timing, retries), options.signal);
    }
  }

  async json<R extends Route>(route: R, input: Input, options?: CallOptions): Promise<AnswerOf<R>> {
    const answer = await this.call(route, input, options);
    return (answer.status === 204 ? undefined : await answer.json()) as AnswerOf<R>;
  }

  /** Returns the error of a failure. Throws if the caller aborted. */
  async #attempt(request: Omit<SentRequest, 'signal'>, outer?: AbortSignal): Promise<Response | unknown> {
    const watchdog = new Watchdog(this.timing.silenceMs, outer);
    try {
      const answer = await this.send({ ...request, signal: watchdog.signal });
      return answer.ok ? answer : await errorOfAnswer(answer);
    } catch (error) {
      if (outer?.aborted || error instanceof RunwireError) throw error;
      return error;
    } finally {
      // The body of the answer has no limit: it may be a large file. The signal of the caller still ends it.
      watchdog.stop();
    }
  }
}
