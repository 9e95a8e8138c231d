import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../telemetry/logger.ts';
import { toTrace } from './request-id.ts';

/**
 * Writes one line at `debug` when the answer has been sent or the connection has closed. The line has the route, not
 * the path, because a path or a query may contain a secret.
 */
export function logRequest(request: FastifyRequest, { raw }: FastifyReply, logger: Logger): void {
  // Not in `onResponse`: Fastify does not call that hook for a stream, nor if the caller leaves early.
  raw.once('close', () => {
    logger.debug(
      {
        ...toTrace(request),
        method: request.method,
        path: request.routeOptions.url ?? null,
        status: raw.headersSent ? raw.statusCode : null,
        durationMs: Math.round(performance.now() - request.receivedAt),
        ownerId: request.principal?.ownerId ?? null,
      },
      'request',
    );
  });
}
