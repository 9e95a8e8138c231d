import { type ErrorCode, errors } from '@runwire/contract';
import type { ErrorObject } from 'ajv';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../domain/refusal.ts';
import { CommitUnknown, StoreUnavailable } from '../domain/unavailable.ts';
import type { Logger } from '../telemetry/logger.ts';
import { COMPLETION_PATH } from './paths.ts';
import { toTrace } from './request-id.ts';
import { validationSentence } from './validation-sentence.ts';

interface FastifyProblem {
  readonly code?: string;
  readonly statusCode?: number;
  readonly validation?: ErrorObject[];
  readonly validationContext?: string;
}

/** Translates errors of Fastify into refusals. */
function asRefusal(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreUnavailable) return new Refusal('unavailable', undefined, {}, 1);
  const problem = error as FastifyProblem;
  const [invalid] = problem.validation ?? [];
  if (invalid !== undefined) {
    return new Refusal('invalid_request', validationSentence(invalid, problem.validationContext ?? 'body'));
  }
  switch (problem.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_TYPE':
      return new Refusal('unsupported_media_type');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Refusal('body_too_large');
    case 'FST_ERR_BAD_URL':
      return new Refusal('invalid_request', 'The path is not percent-encoded correctly; encode it as UTF-8.');
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Refusal('not_found');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Refusal('invalid_request', 'The body does not have the length that `Content-Length` gives.');
  }
  return typeof problem.statusCode === 'number' && problem.statusCode >= 400 && problem.statusCode < 500
    ? new Refusal('invalid_request')
    : null;
}

function getStatus(code: ErrorCode, path: string): number {
  const entry: { readonly status: number | null; readonly completionStatus?: number } = errors[code];
  return (path === COMPLETION_PATH ? entry.completionStatus : undefined) ?? entry.status ?? 500;
}

export function refusalAnswer(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.routeOptions.url ?? '';
  request.server.noteRefusal(refusal, request);
  // Set here too: no hook has run if the path could not be decoded.
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  // Fastify closes the connection after a body that it could not parse. If the body was read completely, the connection
  // stays usable.
  if (request.raw.complete) reply.removeHeader('connection');
  if (refusal.code === 'request_timeout') reply.header('connection', 'close');
  if (refusal.code === 'invalid_api_key') reply.header('www-authenticate', 'Bearer');
  if (refusal.retryAfterSeconds !== null) reply.header('retry-after', String(refusal.retryAfterSeconds));
  const status = getStatus(refusal.code, path);
  const api = request.routeOptions.config?.compatible;
  // Only `false` means that the request has reserved no run.
  const { startsRuns } = request.routeOptions.config ?? {};
  const hasNoRun = startsRuns !== true || reply.getHeader('x-agent-run-admitted') === 'false';
  const headers = api?.errorHeaders?.(refusal, status, hasNoRun);
  if (headers !== undefined) reply.headers(headers);
  const body = api?.errorBody?.(refusal, status);
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send(body ?? { error: refusal.message, code: refusal.code, ...refusal.details });
}

/** Sends one clear sentence for bad input. For an error of ours the answer has no details; the log has them. */
export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  logger: Logger,
): FastifyReply {
  const refusal = asRefusal(error);
  // It is unknown if the run exists, so the header is neither `true` nor `false`.
  if (error instanceof CommitUnknown) reply.removeHeader('x-agent-run-admitted');
  if (refusal !== null) return refusalAnswer(refusal, request, reply);
  logger.error({ err: error, ...toTrace(request), method: request.method, path: request.routeOptions.url }, 'fault');
  return refusalAnswer(new Refusal('internal_error'), request, reply);
}
