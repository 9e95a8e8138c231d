import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { FetchFailed, finalFailure } from './fetch-failed.ts';

const MAX_HEADER_BYTES = 16 * 1024;
/** Interim answers (`103 Early Hints`): a few are usual, more could be an attack. */
const MAX_EARLY_ANSWERS = 8;

/** What is sent. */
export interface GuardedRequest {
  readonly method: 'GET' | 'POST';
  /** Besides those of every request, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export const PLAIN_GET: GuardedRequest = { method: 'GET', headers: {}, body: null };

/**
 * Sends one request over this connection, which the caller destroys. It adds no cookies, credentials or referrer, so the
 * server learns nothing about the caller. Rejects with `FetchFailed` if the answer is not HTTP or its headers are too
 * large.
 */
export async function sendRequest(
  url: URL,
  socket: Duplex,
  userAgent: string,
  { method, headers, body }: GuardedRequest = PLAIN_GET,
): Promise<IncomingMessage> {
  // Imported here because it also loads the client of `fetch`: 0.07 s of processor time that most starts do not need.
  const { request } = await import('node:http');
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const asked = request({
    method,
    host: url.hostname,
    path: `${url.pathname}${url.search}`,
    headers: {
      host: url.host,
      'user-agent': userAgent,
      accept: '*/*',
      ...headers,
      ...(body === null ? {} : { 'content-length': Buffer.byteLength(body) }),
      // A body that grows when it is unpacked would get past the limit on its size.
      'accept-encoding': 'identity',
      connection: 'close',
    },
    setHost: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
    createConnection: () => socket,
  });
  let early = 0;
  asked.on('information', () => {
    early += 1;
    if (early > MAX_EARLY_ANSWERS) reject(unclear());
  });
  asked.on('response', resolve);
  asked.on('upgrade', () => reject(unclear()));
  asked.on('error', (error: NodeJS.ErrnoException) => reject(toFailure(error)));
  asked.on('close', () => reject(cut()));
  asked.end(body ?? undefined);
  return promise;
}

const unclear = () => finalFailure('broken', 'its server sent an unexpected answer', 'check the link');
export const cut = () => new FetchFailed('broken', 'its server closed the connection before the end of its answer');

function toFailure(error: NodeJS.ErrnoException): FetchFailed {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return finalFailure('broken', 'its server sent headers that are too large', 'check the link');
  }
  return error.code?.startsWith('HPE_') ? unclear() : cut();
}
