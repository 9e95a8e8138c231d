import type { GuardedFetcher, GuardedRequest } from '@runwire/guarded-fetch';

/** Sends one request to an address that an MCP server names. */
export type AskForeign = Pick<GuardedFetcher, 'ask'>['ask'];

/** Large enough for metadata and tokens. */
export const MAX_OAUTH_BYTES = 256 * 1024;
export const OAUTH_MS = 10_000;

const MAX_CODE_CHARACTERS = 40;
/** Statuses whose answers have no body. */
const WITHOUT_BODY = [204, 205, 304];

/**
 * A `fetch` for addresses of other origins than the MCP server's own: authorization servers, their metadata and their token
 * endpoints. The MCP server names them, so each is https and passes the guard. The SDK repeats bodies in its errors, which
 * owners and models see. So it gets only JSON objects, and of a refusal only the code.
 */
export function oauthFetch(ask: AskForeign): (url: URL, init?: RequestInit) => Promise<Response> {
  return async (url, init = {}) => {
    const request: GuardedRequest = {
      method: init.method === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      body: init.body === undefined || init.body === null ? null : String(init.body),
    };
    const { status, location, bytes } = await asked(ask, url, request, init.signal ?? new AbortController().signal);
    const headers = { 'content-type': 'application/json', ...(location === null ? {} : { location }) };
    const isSuccess = status >= 200 && status < 300;
    const body = isSuccess ? goodBody(url, bytes) : refusalBody(bytes);
    const response = new Response(WITHOUT_BODY.includes(status) ? null : body, { status, headers });
    return Object.defineProperty(response, 'url', { value: url.href });
  };
}

async function asked(ask: AskForeign, url: URL, request: GuardedRequest, signal: AbortSignal) {
  try {
    const answer = await ask(url, request, signal);
    if (answer.status >= 200 && answer.status <= 599) return answer;
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`An address of the authorization server at ${url.origin} ${reason}`);
  }
  throw new Error(`The authorization server at ${url.origin} sent an answer with an unknown status.`);
}

function goodBody(url: URL, bytes: Uint8Array): string {
  const found = parsedObject(bytes);
  if (found === null) throw new Error(`The authorization server at ${url.origin} sent an answer that is not JSON.`);
  return 'error' in found ? refusalBody(bytes) : JSON.stringify(found);
}

/** Only the code: its description is text of another party. */
function refusalBody(bytes: Uint8Array): string {
  const { error } = parsedObject(bytes) ?? {};
  const isCode = typeof error === 'string' && error.length <= MAX_CODE_CHARACTERS && /^[a-z_]+$/.test(error);
  return JSON.stringify({ error: isCode ? error : 'server_error' });
}

function parsedObject(bytes: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
