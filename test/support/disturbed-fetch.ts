import { Runwire, type RunwireOptions } from '@runwire/client';
import { TEST_API_KEY } from '@runwire/test-kit';

/** A request of the client, before it is sent. */
export interface ClientRequest {
  /** 1 for the client's first request. */
  readonly number: number;
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The options of `fetch`. */
  readonly init: RequestInit;
  /** Sends it to the server. */
  readonly send: () => Promise<Response>;
}

/** Waits that a test can afford. */
export const SHORT_TIMING = { minPauseMs: 1, maxPauseMs: 20, silenceMs: 10_000, giveUpMs: 20_000 };

/** A client whose requests pass through the test. The list has each request, as `METHOD path?query`. */
export function disturbedClient(
  baseUrl: string,
  options: Partial<RunwireOptions>,
  disturb: (request: ClientRequest) => Promise<Response>,
): { readonly client: Runwire; readonly requests: string[] } {
  const requests: string[] = [];
  const through: typeof fetch = async (input, init = {}) => {
    const url = new URL(String(input));
    const method = init.method ?? 'GET';
    requests.push(`${method} ${url.pathname}${url.search}`);
    const headers = Object.fromEntries(new Headers(init.headers));
    const body = typeof init.body === 'string' ? init.body : '';
    return await disturb({ number: requests.length, method, url, headers, body, init, send: () => fetch(input, init) });
  };
  const client = new Runwire({ baseUrl, apiKey: TEST_API_KEY, timing: SHORT_TIMING, ...options, fetch: through });
  return { client, requests };
}

/** Passes on an answer's first bytes. Then the connection breaks, or ends as if it were complete. */
export function cut(answer: Response, bytes: number, how: 'breaks' | 'ends' | 'falls silent' = 'breaks'): Response {
  let left = bytes;
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = left > 0 ? await reader.read() : { value: undefined, done: true };
      if (value !== undefined) controller.enqueue(value.subarray(0, left));
      left -= value?.length ?? 0;
      if (!done) return;
      reader.cancel().catch(() => {});
      if (how === 'breaks') controller.error(new TypeError('terminated'));
      else if (how === 'ends') controller.close();
      else await new Promise(() => {});
    },
  });
  return new Response(body, answer);
}
