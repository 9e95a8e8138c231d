import type { RequestListener, Server, ServerOptions } from 'node:http';
import { type Operation, operations } from '@runwire/contract/schemas';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Authentication } from '../accounts/authenticate.ts';
import type { IntegrationOwnership } from '../accounts/owned-integration.ts';
import type { Caller, ClientToken } from '../domain/account/caller.ts';
import type { Principal } from '../domain/account/principal.ts';
import { ListPage } from '../domain/list-page.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { TraceSpan, Tracing } from '../telemetry/tracing.ts';
import { logRequest } from './access-log.ts';
import type { AuditRequest } from './audited.ts';
import type { BodyReader } from './body/body-reader.ts';
import { RequestDeadlines, type RequestTimes } from './body/request-deadlines.ts';
import { checkQuery } from './check-query.ts';
import { checkRole } from './check-role.ts';
import { checkClientToken } from './client-access.ts';
import { ClientErrors } from './client-error.ts';
import { CompressedAnswers } from './compressed-answers.ts';
import { answerPreflight, corsHeaders, isPreflight } from './cors.ts';
import { answerError, refusalAnswer } from './error-answer.ts';
import type { ForwardedForWarning } from './forwarded-for.ts';
import { type OpenApiServers, registerOpenApi } from './openapi.ts';
import { COMPLETION_PATH, getPath, operationsAt, originForm } from './paths.ts';
import { type RequestIds, toTrace } from './request-id.ts';
import { traceRequest } from './trace-request.ts';
import { validatorsFor } from './validators.ts';

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal;
    /** Null if the request was sent with an API key. */
    clientToken: ClientToken | null;
    /** When the request arrived, by the monotonic clock. */
    receivedAt: number;
    /** Null if traces are off. */
    span: TraceSpan | null;
    /** The code of the refusal; null if the request was not refused. */
    refusalCode: string | null;
  }
  interface FastifyInstance {
    readonly ownership: IntegrationOwnership;
    /** The operations of the compatible APIs, which OpenAPI does not describe. */
    readonly compatibleOperations: Operation[];
    /** How a request's changes are stored in the audit log. */
    readonly audit: AuditRequest;
    /** Counts and logs refused requests, only in memory. */
    noteRefusal(refusal: Refusal, request: FastifyRequest): void;
    /** Counts an answer when it begins. Fastify's hooks do not see the answers that it does not send itself. */
    noteAnswer(request: Pick<FastifyRequest, 'method' | 'routeOptions' | 'receivedAt'>, status: number): void;
  }
}

export interface AppOptions {
  readonly authentication: Authentication;
  readonly ownership: IntegrationOwnership;
  readonly bodies: BodyReader;
  readonly limits: RequestTimes & { readonly bodyBytes: number; readonly messageCharacters: number };
  readonly servers: OpenApiServers;
  readonly logger: Logger;
  /** False if lines at `debug` are not written: a request that has an access line keeps more memory until it closes. */
  readonly logsRequests: boolean;
  readonly requestIds: RequestIds;
  readonly isShuttingDown: () => boolean;
  readonly metrics: Metrics;
  /** Null if traces are off. */
  readonly tracing: Tracing | null;
  readonly forwardedFor: ForwardedForWarning;
  readonly audit: AuditRequest;
}

function createServer({ requestMs, requestIdleMs }: RequestTimes, handler: RequestListener): Server {
  const options: ServerOptions = {
    keepAliveTimeout: 75_000,
    // Node would answer a request without `Host` itself, without our headers.
    requireHostHeader: false,
    // `RequestDeadlines` has the limits of bodies.
    requestTimeout: 0,
    headersTimeout: requestMs,
    connectionsCheckingInterval: requestIdleMs / 10,
  };
  // `import` would read all exports of the module, a complete client included, which takes 35 ms of CPU.
  return process.getBuiltinModule('node:http').createServer(options, handler);
}

/** Everything that all operations share: ids, keys, bodies, errors. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { authentication, limits, logger, requestIds } = options;
  const clientErrors = new ClientErrors(requestIds, logger);
  const app = fastify({
    logger: false,
    genReqId: ({ headers }) => requestIds.of(headers),
    bodyLimit: limits.bodyBytes,
    exposeHeadRoutes: false,
    // While closing, our own answer carries the header; Fastify's does not.
    return503OnClosing: false,
    forceCloseConnections: true,
    // The router, the hooks and the handlers see a path, whichever form the request target has.
    rewriteUrl: ({ url }) => originForm(url ?? ''),
    // One server: at `localhost` Fastify would start another for the second address, which nothing below watches.
    serverFactory: (handler) => createServer(limits, handler),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4096 },
    schemaController: { compilersFactory: { buildValidator: () => validatorsFor(limits.messageCharacters) as never } },
    frameworkErrors: (error, request, reply) => {
      // The hooks do not run for a path that cannot be decoded.
      request.receivedAt = performance.now();
      request.span = null;
      if (options.logsRequests) logRequest(request, reply, logger);
      answerError(error, request, reply, logger);
      app.noteAnswer(request, reply.statusCode);
    },
    clientErrorHandler: (error, socket) => clientErrors.handle(error, socket),
  });
  // An unknown `Expect` is ignored in the same way.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  clientErrors.watch(app.server);
  const deadlines = new RequestDeadlines(app.server, limits, (socket) => clientErrors.expire(socket));
  app.addHook('onClose', () => deadlines[Symbol.dispose]());
  app.decorate('ownership', options.ownership);
  app.decorate('audit', options.audit);
  app.decorate('compatibleOperations', []);
  app.decorate('noteRefusal', ({ code }, request) => {
    request.refusalCode = code;
    const path = request.routeOptions.url ?? null;
    if ((path ?? getPath(request.url)) === COMPLETION_PATH)
      options.metrics.admissions.add({ outcome: 'refused', code });
    // Logs the route, not the path, because a query may contain a secret.
    if (code !== 'internal_error') logger.debug({ ...toTrace(request), method: request.method, path, code }, 'refused');
  });
  app.decorate('noteAnswer', ({ method, routeOptions, receivedAt }, status) => {
    options.metrics.answered(method, routeOptions.url ?? null, status, performance.now() - receivedAt);
  });
  app.decorateRequest('receivedAt', 0);
  app.decorateRequest('span', null);
  app.decorateRequest('refusalCode', null);
  app.decorateRequest('principal', null as unknown as Principal);
  app.decorateRequest('clientToken', null);
  // Fastify also sends a buffer, but its types do not allow one.
  app.setSerializerCompiler(
    () => (data) => (data instanceof ListPage ? (data.json as unknown as string) : JSON.stringify(data)),
  );
  app.removeAllContentTypeParsers();
  options.bodies.register(app);
  app.addHook('onRequest', async (request, reply) => {
    request.receivedAt = performance.now();
    if (options.tracing !== null) request.span = traceRequest(options.tracing, request, reply);
    if (options.logsRequests) logRequest(request, reply, logger);
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    // `true` is sent only after the reservation; until then every answer at this path has `false`.
    const { config, url } = request.routeOptions;
    if (config.startsRuns === true || (url ?? getPath(request.url)) === COMPLETION_PATH)
      reply.header('x-agent-run-admitted', 'false');
    refuseSecondHost(request.raw.rawHeaders);
    if (request.headers['x-forwarded-for'] !== undefined) options.forwardedFor.note(request.socket.remoteAddress);
    // Checked before the body is read, so that a caller without a key cannot make the server read one.
    if (url === undefined) return notFound(request, reply);
    const { operation } = config;
    if (operation === undefined) return;
    if (operation.auth) await authenticate(authentication, operation, request, reply);
    checkQuery(operation, request.query);
  });
  const answers = new CompressedAnswers();
  // The last hook, so that no other removes the header: otherwise the next request would lose its connection.
  app.addHook('onSend', (request, reply, payload, done) => {
    app.noteAnswer(request, reply.statusCode);
    if (options.isShuttingDown()) reply.header('connection', 'close');
    const compressed = answers.begin(request, reply, payload);
    if (compressed === null) done(null, payload);
    else void compressed.then((bytes) => done(null, bytes));
  });
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, logger));
  app.setNotFoundHandler(notFound);
  registerOpenApi(app, options.servers, limits);
  return app;
}

function notFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = getPath(request.url);
  const own = operationsAt(Object.values(operations), path);
  const found = own.length > 0 ? own : operationsAt(request.server.compatibleOperations, path);
  if (found.length === 0) return refusalAnswer(new Refusal('not_found'), request, reply);
  if (isPreflight(request, found)) return answerPreflight(reply, found !== own);
  const methods = found.map(({ method }) => method);
  reply.header('allow', methods.join(', '));
  const sentence = `This path does not support ${request.method}; use ${inWords(methods)}.`;
  return refusalAnswer(new Refusal('method_not_allowed', sentence), request, reply);
}

/** `GET, PUT or DELETE`. */
function inWords(methods: readonly string[]): string {
  return methods.join(', ').replace(/, (\w+)$/, ' or $1');
}

/**
 * If a request has two `Host` headers, a proxy might use one and this server the other. Node keeps only the first in
 * `headers`.
 */
function refuseSecondHost(rawHeaders: readonly string[]): void {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) throw new Refusal('invalid_request', 'The request has more than one `Host` header; send exactly one.');
}

/** Sets who sends the request. Throws a `Refusal` if that is unknown, or if its role or token does not permit the operation. */
async function authenticate(
  authentication: Authentication,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { clientToken: permission } = operation;
  try {
    const { principal, clientToken } = await getCaller(authentication, request.headers.authorization);
    request.principal = principal;
    request.clientToken = clientToken;
  } catch (error) {
    if (permission !== undefined) reply.headers(corsHeaders(undefined, request));
    throw error;
  }
  if (request.clientToken === null) return checkRole(request, operation, request);
  reply.headers(corsHeaders(request.clientToken, request));
  checkClientToken(request.clientToken, permission, request);
}

const BEARER = /^bearer +([\x21-\x7e]+) *$/i;

async function getCaller(authentication: Authentication, header: string | undefined): Promise<Caller> {
  if (header === undefined || /^(bearer)? *$/i.test(header)) {
    throw new Refusal('invalid_api_key', 'The API key is missing; send it as `Authorization: Bearer <key>`.');
  }
  const [, token] = BEARER.exec(header) ?? [];
  // V8 keeps the text of the last match in memory. This match replaces it, so that the key does not stay there.
  BEARER.exec('bearer -');
  if (token === undefined) {
    const sentence = 'The `Authorization` header is malformed; send the API key as `Authorization: Bearer <key>`.';
    throw new Refusal('invalid_api_key', sentence);
  }
  return authentication.authenticate(token);
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation;
  }
}
