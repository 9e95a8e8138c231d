import type { FastifyRequest } from 'fastify';
import { Refusal } from '../domain/refusal.ts';

/** A name or an address with an optional port, which a URL accepts unchanged. */
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/;

type RequestOrigin = Pick<FastifyRequest, 'headers' | 'protocol'>;

/**
 * Returns the base address for the caller: `RUNWIRE_PUBLIC_URL`, or if it is not set, the scheme and host of the
 * request. `X-Forwarded-Host` and similar headers are ignored, because every client can send them. An operator with a
 * proxy sets `RUNWIRE_PUBLIC_URL`.
 */
export function callersBase(request: RequestOrigin, publicUrl: string | null): string {
  const base = knownBase(request, publicUrl);
  if (base !== null) return base;
  throw new Refusal(
    'invalid_request',
    'The header `Host` is missing or not a host name; send the host name of this server, or set RUNWIRE_PUBLIC_URL.',
  );
}

/** Returns null if the request has no host. */
export function knownBase(request: RequestOrigin, publicUrl: string | null): string | null {
  if (publicUrl !== null) return publicUrl;
  const { host } = request.headers;
  const url = host !== undefined && HOST.test(host) ? URL.parse(`${request.protocol}://${host}`) : null;
  return url?.origin ?? null;
}
