import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TraceSpan, Tracing } from '../telemetry/tracing.ts';
import { callersTraceparent } from './request-id.ts';

/** Asked every few seconds by machines: no one looks for their traces. */
const UNTRACED: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/** Begins the span of a request. It ends with the answer, or when the connection closes. */
export function traceRequest(tracing: Tracing, request: FastifyRequest, reply: FastifyReply): TraceSpan | null {
  const { method, headers } = request;
  const { url: route } = request.routeOptions;
  if (route !== undefined && UNTRACED.has(route)) return null;
  const attributes = { 'http.request.method': method, 'http.route': route, 'url.scheme': request.protocol };
  const name = route === undefined ? method : `${method} ${route}`;
  const span = tracing.start({ name, kind: 'server', attributes }, callersTraceparent(headers));
  const { raw } = reply;
  raw.once('close', () => {
    const { statusCode } = raw;
    span.set({ 'http.response.status_code': statusCode });
    span.end(statusCode >= 500 ? (request.refusalCode ?? String(statusCode)) : null);
  });
  return span;
}
