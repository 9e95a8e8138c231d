import type { FastifyRequest } from 'fastify';
import { Refusal } from '../domain/refusal.ts';

/** A name or an address with an optional port: what a URL takes as it stands. */
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/;

type Asked = Pick<FastifyRequest, 'headers' | 'protocol'>;

/**
 * "under `RUNWIRE_PUBLIC_URL`, or where unset under the scheme and host of the signing request". `X-Forwarded-Host` and its
 * kin are not asked: anybody can send them, and behind a proxy there is the setting.
 */
export function callersBase(request: Asked, publicUrl: string | null): string {
  const base = knownBase(request, publicUrl);
  if (base !== null) return base;
  throw new Refusal(
    'invalid_request',
    'The header `Host` is missing or not a host name; send the host name of this server, or set RUNWIRE_PUBLIC_URL.',
  );
}

/** Null: the request names no host. */
export function knownBase(request: Asked, publicUrl: string | null): string | null {
  if (publicUrl !== null) return publicUrl;
  const { host } = request.headers;
  const url = host !== undefined && HOST.test(host) ? URL.parse(`${request.protocol}://${host}`) : null;
  return url?.origin ?? null;
}
