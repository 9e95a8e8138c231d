import type { FastifyRequest } from 'fastify';
import { Refusal } from '../domain/refusal.ts';

/**
 * Throws a `Refusal` unless a page of this server sends the request. Browsers set `Sec-Fetch-Site`, and pages cannot
 * change it. A browser that does not send it sends `Origin` with every POST.
 */
export function requireSameOrigin({ headers }: Pick<FastifyRequest, 'headers'>, publicUrl: string | null): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined ? isOwnOrigin(headers, publicUrl) : site === 'same-origin') return;
  const sentence = 'Only the pages of the console may send this request; open the console at its own address.';
  throw new Refusal('foreign_origin', sentence);
}

/** Compares hosts only: a proxy may end TLS, so the scheme of the page is not known. */
function isOwnOrigin({ origin, host }: FastifyRequest['headers'], publicUrl: string | null): boolean {
  const page = origin === undefined ? null : URL.parse(origin);
  if (page === null || page.host === '') return false;
  if (publicUrl !== null && page.host === URL.parse(publicUrl)?.host) return true;
  // The parser removes a port that is the scheme's default.
  return host !== undefined && page.host === URL.parse(`${page.protocol}//${host}`)?.host;
}
