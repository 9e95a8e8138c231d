import { headerNames } from '@runwire/contract';
import type { Operation } from '@runwire/contract/schemas';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ClientToken } from '../domain/account/caller.ts';

const EXPOSED = [
  headerNames.agentRunAdmitted,
  headerNames.runId,
  headerNames.chatId,
  headerNames.runReplayed,
  headerNames.requestId,
  'Retry-After',
].join(', ');

/** Never allows credentials: a page sends its token itself, and no operation reads a cookie. */
const ANY_ORIGIN = { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };
const COMPATIBLE_ORIGIN = {
  ...ANY_ORIGIN,
  'access-control-expose-headers': `${EXPOSED}, ${headerNames.ignored}`,
};

const PREFLIGHT = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'Authorization, Content-Type, Last-Event-ID',
  'access-control-max-age': '86400',
};

/**
 * The headers with which a page may read the answer; none if the request was sent with an API key. `token` is undefined
 * if it is not known who sends the request: a page must be able to see that its token has expired.
 */
export function corsHeaders(
  token: ClientToken | null | undefined,
  request: Pick<FastifyRequest, 'headers' | 'routeOptions'>,
): Readonly<Record<string, string>> {
  if (token === null) return {};
  // `routeOptions` is a getter that makes an object.
  const anyOrigin = request.routeOptions.config?.compatible === undefined ? ANY_ORIGIN : COMPATIBLE_ORIGIN;
  const { origin } = request.headers;
  if (token === undefined || token.origins === null) return anyOrigin;
  const varies = { vary: 'Origin' };
  if (origin === undefined) return varies;
  // A foreign origin gets nothing but the refusal `foreign_origin`. Its page must be able to read that, because a page
  // takes an answer without this header for a broken connection, and tries again.
  return { ...anyOrigin, ...varies, 'access-control-allow-origin': origin };
}

/** True if a browser asks whether a page may call one of these operations with a client token. */
export function isPreflight({ method, headers }: FastifyRequest, operations: readonly Operation[]): boolean {
  if (method !== 'OPTIONS' || headers.origin === undefined) return false;
  return (
    headers['access-control-request-method'] !== undefined &&
    operations.some(({ clientToken }) => clientToken !== undefined)
  );
}

/** Clients of compatible APIs send their own headers. */
const COMPATIBLE_PREFLIGHT = {
  ...PREFLIGHT,
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers': 'Authorization, *',
};

export const answerPreflight = (reply: FastifyReply, isCompatible: boolean): FastifyReply =>
  reply
    .code(204)
    .headers(isCompatible ? COMPATIBLE_PREFLIGHT : PREFLIGHT)
    .send();
