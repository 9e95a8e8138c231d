import { namedSchemas, type Operation } from '@runwire/contract/schemas';
import { memberName } from '@runwire/lib/member-name.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Scope } from '../domain/account/scope.ts';
import { ListPage } from '../domain/list-page.ts';
import { Refusal } from '../domain/refusal.ts';
import { cursorTag, unboundCursor } from './bound-cursor.ts';
import { requireRoleEntry } from './check-role.ts';
import { applyClientToken } from './client-access.ts';
import { toSchema } from './openapi.ts';

type Part<T> = T extends TSchema ? Static<T> : undefined;

/** A request of this operation, typed by its schemas. */
export type RequestOf<O extends Operation> = Omit<FastifyRequest, 'params' | 'query' | 'body'> & {
  readonly params: Part<O['params']>;
  readonly query: Part<O['query']>;
  readonly body: Part<O['body']>;
};

/** What the caller sees of the integration that the request names. Undefined if the operation names none. */
type ScopeFor<O extends Operation> = O extends { readonly createsIntegration: true }
  ? undefined
  : NamesIntegration<Part<O['params']>> extends true
    ? Scope
    : NamesIntegration<Part<O['body']>> extends true
      ? Scope
      : 'integration' extends keyof Part<O['query']>
        ? Scope | undefined
        : undefined;
type NamesIntegration<T> = T extends { readonly apiIntegrationId: string } ? true : false;

interface Before<O extends Operation, Read> {
  /** Called with the body before validation. */
  readonly prepareBody?: (body: unknown) => void;
  /** Reads the request before the integration is looked up: what it refuses counts more than a foreign integration. */
  readonly read?: (request: RequestOf<O>) => Read;
  /** True if the operation may start a run: every answer tells whether it did. */
  readonly startsRuns?: boolean;
}

/**
 * Registers an operation. Its schema is the only source of validation, types and description. If the request names an
 * integration, the handler is called only for callers to whom it belongs, and gets what they see of it.
 */
export function route<O extends Operation, Read = undefined>(
  app: FastifyInstance,
  operation: O,
  handler: (request: RequestOf<O>, reply: FastifyReply, scope: ScopeFor<O>, read: Read) => Promise<unknown>,
  { prepareBody, read, startsRuns = false }: Before<O, Read> = {},
): void {
  refuseUncheckedIntegration(operation);
  const readIntegration = integrationReader(operation);
  requireRoleEntry(operation);
  const handle = async (raw: FastifyRequest, reply: FastifyReply) => {
    const request = raw as unknown as RequestOf<O>;
    const given = read?.(request) as Read;
    const integrationId = readIntegration(raw);
    const scope = integrationId === undefined ? undefined : await app.ownership.scope(raw, integrationId);
    return handler(request, reply, scope as ScopeFor<O>, given);
  };
  app.route({
    method: operation.method,
    url: operation.path,
    schema: toSchema(operation),
    config: { operation, startsRuns },
    preValidation: (request, _reply, done) => {
      // A missing body counts as an empty object. `null` is a body and is refused.
      if (operation.bodyOptional === true && request.body === undefined) request.body = {};
      if (operation.method === 'DELETE') refuseFields(request.body);
      if (request.clientToken !== null) applyClientToken(request.clientToken, operation.operationId, request);
      prepareBody?.(request.body);
      done();
    },
    handler: isList(operation)
      ? (request, reply) => withBoundCursors(operation, request, reply, () => handle(request, reply))
      : handle,
  });
}

/** Throws if a request could name an integration that is not looked up: by another name in the query, or a second one. */
function refuseUncheckedIntegration({ operationId, params, query, body }: Operation): void {
  const inPathOrBody = [params, body].filter((schema) => hasProperty(schema, 'apiIntegrationId'));
  const inQuery = hasProperty(query, 'integration') ? 1 : 0;
  if (hasProperty(query, 'apiIntegrationId') || inPathOrBody.length + inQuery > 1)
    throw new Error(
      `${operationId} must name its integration once: as \`apiIntegrationId\` in the path or in the body, or as \`integration\` in the query. Only that one is checked.`,
    );
}

const hasProperty = (schema: TSchema | undefined, name: string): boolean => Object.hasOwn(propertiesIn(schema), name);

/** An object schema's properties, or of the named schema that it refers to. */
function propertiesIn(schema: TSchema | undefined): object {
  const { $ref, properties } = (schema ?? {}) as { readonly $ref?: string; readonly properties?: object };
  if ($ref !== undefined) return propertiesIn(namedSchemas.find(({ $id }) => `${$id}#` === $ref));
  return properties ?? {};
}

/** Returns how the integration that a request names is read. The schemas have validated the request. */
function integrationReader({
  createsIntegration,
  query: querySchema,
}: Operation): (request: FastifyRequest) => string | undefined {
  if (createsIntegration === true) return () => undefined;
  if (hasProperty(querySchema, 'integration'))
    return ({ query }) => (query as { readonly integration?: string }).integration;
  return ({ params, body }) => {
    const inPath = (params as { readonly apiIntegrationId?: string }).apiIntegrationId;
    return inPath ?? (body as { readonly apiIntegrationId?: string } | null | undefined)?.apiIntegrationId;
  };
}

/** A DELETE takes no body. One with a field is a request for something else, such as an erasure. */
function refuseFields(body: unknown): void {
  const [field] = typeof body === 'object' && body !== null ? Object.keys(body) : [];
  if (field === undefined) return;
  const name = memberName(field);
  throw new Refusal(
    'invalid_request',
    `\`${name}\` is not a known field: a DELETE takes no body. Send parameters in the query, such as \`?erase=true\`.`,
  );
}

function isList({ query }: Operation): boolean {
  return hasProperty(query, 'cursor');
}

/** The list uses plain positions. Callers see cursors that are bound to the list. */
async function withBoundCursors(
  { operationId }: Operation,
  request: FastifyRequest,
  { raw }: FastifyReply,
  list: () => Promise<unknown>,
): Promise<unknown> {
  const query = request.query as { cursor?: string };
  const { params, principal, clientToken: member } = request;
  const tag = cursorTag({ operationId, ownerId: principal.ownerId, params, query, member });
  if (query.cursor !== undefined) query.cursor = unboundCursor(query.cursor, tag);
  const page = (await list()) as { nextCursor?: string | null };
  if (page instanceof ListPage) {
    // If the caller has left, `close` was emitted already and is not emitted again.
    if (raw.destroyed) page.onSent();
    else raw.once('close', page.onSent);
  }
  if (typeof page.nextCursor === 'string') page.nextCursor = tag + page.nextCursor;
  return page;
}

/** Returns the query of a list whose large pages wait for their owner's turn. */
export function ownersQuery<Q>({ query, principal, raw }: Pick<FastifyRequest, 'principal' | 'raw'> & { query: Q }) {
  return { ...query, ownerId: principal.ownerId, hasLeft: () => raw.socket.destroyed };
}
