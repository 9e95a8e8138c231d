import { AuthenticationError } from './errors.ts';
import { parseObject } from './json.ts';

/** A key or a client token, or a function that returns a fresh one. */
export type ApiKey = string | (() => string | Promise<string>);

/** A token is renewed this long before it ends, or after three quarters of its time if that is later. */
const RENEW_MS = 30_000;

interface Claims {
  readonly typ?: string;
  readonly exp?: number;
  readonly apiIntegrationId?: string;
}

/** Reads header and payload of a JWT, without checking it. Returns an empty object for a key that is no JWT. */
export function listClaims(token: string): Claims {
  const [header, payload] = token.split('.').map(toPart);
  return { ...payload, ...header };
}

function toPart(text: string): object {
  try {
    return parseObject(atob(text.replace(/-/g, '+').replace(/_/g, '/')));
  } catch {
    return {};
  }
}

const invalidKey = (message: string) => new AuthenticationError({ code: 'invalid_api_key', message });

/**
 * Refuses what is no key or token, and keys in a page: everyone who opens it can read them. Tokens of a client or of a
 * console session are made for pages.
 */
function checkToken(token: string, absence: string): string {
  if (typeof token !== 'string' || !/^\s*\S+\s*$/.test(token)) throw invalidKey(absence);
  if ('document' in globalThis && !/^(client|console)\+jwt$/.test(listClaims(token).typ ?? '')) {
    throw invalidKey('Everyone can read a key in a page; pass a function for client tokens.');
  }
  return token;
}

/** A client's key. A function is asked again shortly before its token ends. */
export class Credentials {
  readonly #apiKey: ApiKey;
  #token: Promise<string> | null = null;
  #known = '';
  /** NaN, which no time reaches, for a token without an end. */
  #renewAt = Number.NaN;

  constructor(apiKey: ApiKey) {
    this.#apiKey = apiKey;
    if (typeof apiKey !== 'function') checkToken(apiKey, '`apiKey` is empty; set RUNWIRE_API_KEY to a key.');
  }

  token(): Promise<string> {
    if (this.#token === null || Date.now() >= this.#renewAt) this.#token = this.#ask();
    return this.#token;
  }

  /** Forgets a refused token. Returns false if there can be no other. */
  forget(token: string): boolean {
    if (token === this.#known) this.#token = null;
    return typeof this.#apiKey !== 'string';
  }

  async #ask(): Promise<string> {
    this.#renewAt = Number.NaN;
    if (typeof this.#apiKey === 'string') return this.#apiKey;
    try {
      // A function that throws immediately must not throw before `#token` is set.
      const token = checkToken(await Promise.resolve().then(this.#apiKey), 'The function `apiKey` returned no token.');
      const endsAt = Number(listClaims(token).exp) * 1000;
      this.#renewAt = endsAt - Math.min(RENEW_MS, (endsAt - Date.now()) / 4);
      this.#known = token;
      return token;
    } catch (error) {
      this.#token = null;
      throw error;
    }
  }
}
