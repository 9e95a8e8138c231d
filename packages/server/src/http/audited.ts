import type { Range } from '@runwire/guarded-fetch/url-rules';
import type { FastifyRequest } from 'fastify';
import { toAnswerer } from '../accounts/answerer.ts';
import type { Audit, AuditSource } from '../audit/audit.ts';
import { printedClientAddress } from './client-address.ts';

type Request = Pick<FastifyRequest, 'id' | 'raw' | 'headers' | 'routeOptions' | 'principal' | 'clientToken'>;

export type AuditRequest = (request: Request) => Audit;

/** Returns how a request's changes are stored in the audit log. */
export function auditRequests(
  trustedProxies: readonly Range[],
  auditFor: (source: AuditSource) => Audit,
): AuditRequest {
  return (request) =>
    auditFor({
      ownerId: request.principal.ownerId,
      actor: toAnswerer(request),
      operation: request.routeOptions.config.operation?.operationId ?? '',
      requestId: request.id,
      address: printedClientAddress(
        request.raw.socket.remoteAddress,
        request.headers['x-forwarded-for'],
        trustedProxies,
      ),
      consumerId: request.clientToken?.consumerId ?? null,
    });
}
