import { namedSchemas, type Operation, operations } from '@runwire/contract/schemas';
import { Ajv } from 'ajv';
import * as ajvFormats from 'ajv-formats';
import { openStream, type StreamReader } from './sse-reader.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into bodies of many shapes; each was checked against its schema.
  readonly body: any;
}

export interface Completion {
  readonly apiIntegrationId?: string;
  readonly message?: string;
  readonly [field: string]: unknown;
}

// The schemas themselves are checked by a test of their own: here it would be most of what a test file takes to load.
const ajv = new Ajv({ strict: false, discriminator: true, meta: false, validateSchema: false });
(ajvFormats.default as unknown as (ajv: Ajv) => void)(ajv);
for (const schema of namedSchemas) ajv.addSchema(schema, (schema as { $id?: string }).$id);

/** Calls the API over HTTP and holds every JSON answer against its operation's schema. */
export class ApiClient {
  readonly url: string;
  readonly apiKey: string | null;

  constructor(url: string, apiKey: string | null) {
    this.url = url;
    this.apiKey = apiKey;
  }

  as(apiKey: string | null): ApiClient {
    return new ApiClient(this.url, apiKey);
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
    if (json) checkAnswer(method, path, answer);
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

  /** The stream of a run again, after a cursor. */
  events(runId: string, after: number | null, integrationId = 'demo'): Promise<StreamReader> {
    return openStream(`${this.url}/v2/integrations/${integrationId}/runs/${runId}/events`, {
      method: 'GET',
      headers: { ...this.authorization, ...(after === null ? {} : { 'last-event-id': String(after) }) },
    });
  }
}

function operationOf(method: string, path: string): Operation | undefined {
  const bare = path.replace(/\?.*$/, '').replace(/(.)\/$/, '$1');
  return Object.values(operations as Record<string, Operation>).find(
    (operation) =>
      operation.method === method && new RegExp(`^${operation.path.replace(/:[A-Za-z]+/g, '[^/]+')}$`).test(bare),
  );
}

function checkAnswer(method: string, path: string, answer: Answer): void {
  const described = operationOf(method, path)?.responses[answer.status];
  const schema = described?.schema ?? (answer.status >= 400 ? { $ref: 'ApiErrorResponse#' } : undefined);
  if (schema === undefined) throw new Error(`${method} ${path} answered ${answer.status}, which is not described.`);
  if (!ajv.validate(schema, answer.body)) {
    throw new Error(
      `${method} ${path} (${answer.status}) is not as described: ${ajv.errorsText()}\n${JSON.stringify(answer.body)}`,
    );
  }
}
