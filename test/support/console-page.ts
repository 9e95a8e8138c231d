import assert from 'node:assert/strict';
import { ApiClient } from '@runwire/test-kit';

export const PASSWORD = 'correct horse battery';

interface ConsoleAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly code?: string;
    readonly error?: string;
    readonly token?: string;
    readonly expiresAt?: string;
  };
}

let addresses = 0;

/** A page of the console in a browser: it keeps the cookie and sends what browsers send. */
export class ConsolePage {
  readonly url: string;
  /** The browser's address as a trusted proxy reports it. Each page has its own. */
  readonly address: string;
  /** The cookie's value; null if there is none. */
  cookie: string | null = null;

  constructor(url: string, address?: string) {
    this.url = url;
    addresses += 1;
    this.address = address ?? `198.51.${100 + Math.floor(addresses / 250)}.${1 + (addresses % 250)}`;
  }

  post(path: string, body: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<ConsoleAnswer> {
    return this.postPlain(path, body, { 'sec-fetch-site': 'same-origin', ...headers });
  }

  /** Posts without `Sec-Fetch-Site`, which `fetch` of Node does not send by itself. */
  async postPlain(path: string, body: object, headers: Readonly<Record<string, string>>): Promise<ConsoleAnswer> {
    const response = await fetch(`${this.url}/console/${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-forwarded-for': this.address,
        ...(this.cookie === null ? {} : { cookie: `theme=dark; runwire_session=${this.cookie}` }),
        ...headers,
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const [, value] = /^runwire_session=([^;]*)/.exec(response.headers.get('set-cookie') ?? '') ?? [];
    if (value !== undefined) this.cookie = value === '' ? null : value;
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
  }

  /** The status and an answer's code. */
  async result(path: string, body?: object, headers?: Readonly<Record<string, string>>) {
    const answer = await this.post(path, body, headers);
    return answer.body.code === undefined ? [answer.status] : [answer.status, answer.body.code];
  }

  signIn(email: string, password = PASSWORD) {
    return this.result('sign_in', { email, password });
  }

  async setUp(setupLink: string, email: string, password = PASSWORD) {
    return this.result('set_up', { link: getSecret(setupLink), email, password });
  }

  /** The API with a new console token of this page. */
  async api(): Promise<ApiClient> {
    const { status, body } = await this.post('token');
    assert.equal(status, 200, JSON.stringify(body));
    return new ApiClient(this.url, body.token ?? '');
  }
}

export function getSecret(setupLink: string): string {
  const [, secret] = /\/console\/#set_up=([\w-]{43})$/.exec(setupLink) ?? [];
  assert.ok(secret !== undefined, setupLink);
  return secret;
}
