import { checkHead, checkJsonBody } from './described-answers.ts';
import { openStream, type StreamReader } from './sse-reader.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of many shapes; each was checked against its schema.
  readonly body: any;
}

export interface Completion {
  readonly apiIntegrationId?: string;
  readonly message?: string;
  readonly [field: string]: unknown;
}

/** Calls the API over HTTP and checks every answer against the OpenAPI description: status, headers, media type, JSON. */
export class ApiClient {
  readonly url: string;
  readonly apiKey: string | null;
  readonly #checks: boolean;

  /** `checks` is false for a server of another version, whose answers have another description. */
  constructor(url: string, apiKey: string | null, checks = true) {
    this.url = url;
    this.apiKey = apiKey;
    this.#checks = checks;
  }

  as(apiKey: string | null): ApiClient {
    return new ApiClient(this.url, apiKey, this.#checks);
  }

  get authorization(): Record<string, string> {
    return this.apiKey === null ? {} : { authorization: `Bearer ${this.apiKey}` };
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const sent = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...this.authorization,
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await response.text();
    const json = method !== 'HEAD' && (response.headers.get('content-type') ?? '').includes('json');
    const answer = { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
    // `fetch` follows redirects, and then the answer belongs to another address.
    if (response.redirected || !this.#checks) return answer;
    const head = { method, path, status: response.status, headers: response.headers };
    checkHead(head);
    if (json) checkJsonBody(head, answer.body);
    return answer;
  }

  get = (path: string) => this.call('GET', path);
  post = (path: string, body?: unknown) => this.call('POST', path, body);
  put = (path: string, body: unknown) => this.call('PUT', path, body);
  patch = (path: string, body: unknown) => this.call('PATCH', path, body);
  delete = (path: string) => this.call('DELETE', path);

  /** Posts a completion; resolves with its head, while the body still streams. */
  complete(body: Completion, headers: Readonly<Record<string, string>> = {}): Promise<StreamReader> {
    return openStream(`${this.url}/get_completion_v2`, {
      method: 'POST',
      headers: { ...this.authorization, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ apiIntegrationId: 'demo', message: 'Hello', ...body }),
    });
  }

  /** Runs a run again; resolves with its head, while the body still streams. */
  rerun(integrationId: string, runId: string, body: object = {}): Promise<StreamReader> {
    return openStream(`${this.url}/v2/integrations/${integrationId}/runs/${runId}/rerun`, {
      method: 'POST',
      headers: { ...this.authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  /** Starts a run for an eval; resolves with its head, while the body still streams. */
  evaluate(integrationId: string, body: object): Promise<StreamReader> {
    return openStream(`${this.url}/v2/integrations/${integrationId}/evals/run`, {
      method: 'POST',
      headers: { ...this.authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  /** Opens a run's stream again, after a cursor. */
  events(runId: string, after: number | null, integrationId = 'demo'): Promise<StreamReader> {
    return openStream(`${this.url}/v2/integrations/${integrationId}/runs/${runId}/events`, {
      method: 'GET',
      headers: { ...this.authorization, ...(after === null ? {} : { 'last-event-id': String(after) }) },
    });
  }
}
