import { setImmediate as nextTurn } from 'node:timers/promises';
import { operationRoles, type Role, type RoleOperation } from '@runwire/contract';
import {
  AnswerQuestionsRequest,
  GetCompletionV2Request,
  type NamedSchema,
  namedSchemas,
  type Operation,
  ScheduleRequest,
  WebhookEvent,
} from '@runwire/contract/schemas';
import { type FastifyInstance, type FastifySchema, fastify } from 'fastify';
import { addEvents, addExamples, type OpenApiDocument } from './openapi-examples.ts';

export interface OpenApiServers {
  /** Called when the document is made: only then does the server know the address that it listens at. */
  readonly publicUrl: () => string;
  readonly stagingUrl: string | null;
}

/** The contract's named schemas. The longest message is the only limit in them that is a setting. */
export function schemasWithLimit(maxLength: number): NamedSchema[] {
  const withLimit = <T extends { readonly properties: { readonly message: object } }>(schema: T) => ({
    ...schema,
    properties: { ...schema.properties, message: { ...schema.properties.message, maxLength } },
  });
  return namedSchemas.map((schema) => {
    if (schema === GetCompletionV2Request) return withLimit(GetCompletionV2Request);
    if (schema === AnswerQuestionsRequest) return withLimit(AnswerQuestionsRequest);
    return schema === ScheduleRequest ? withLimit(ScheduleRequest) : schema;
  });
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the OpenAPI document of all routes. */
    describe(): Promise<OpenApiDocument>;
  }
}

/** Makes the OpenAPI document of the routes when it is first requested. */
export function registerOpenApi(
  app: FastifyInstance,
  servers: OpenApiServers,
  limits: { readonly messageCharacters: number },
): void {
  const schemas = schemasWithLimit(limits.messageCharacters);
  const routed: Operation[] = [];
  app.addHook('onRoute', ({ config }) => {
    if (config?.operation !== undefined && config.compatible === undefined) routed.push(config.operation);
  });
  let document: Promise<OpenApiDocument> | undefined;
  app.decorate('describe', () => {
    document ??= describe(routed, schemas, servers).catch((error: unknown) => {
      // The next request tries again.
      document = undefined;
      throw error;
    });
    return document;
  });
}

/** What is posted to endpoints: no operation refers to it. */
const POSTED = { $ref: `${WebhookEvent.$id}#` };

/** How many operations one turn of the event loop describes: 20 take about 30 ms. */
const OPERATIONS_PER_TURN = 20;

/** Makes the document from the routes' schemas, so there is no second source. */
async function describe(
  routed: readonly Operation[],
  schemas: readonly NamedSchema[],
  servers: OpenApiServers,
): Promise<OpenApiDocument> {
  const paths: NonNullable<OpenApiDocument['paths']> = {};
  const described: Record<string, object> = {};
  let document: OpenApiDocument = {};
  for (let first = 0; first < routed.length; first += OPERATIONS_PER_TURN) {
    const operations = routed.slice(first, first + OPERATIONS_PER_TURN);
    document = await describePart(operations, findReferenced([...operations, POSTED], schemas));
    for (const [path, item] of Object.entries(document.paths ?? {})) paths[path] = { ...paths[path], ...item };
    Object.assign(described, document.components?.schemas);
  }
  // In the contract's order.
  const named = schemas.flatMap(({ $id = '' }) => (described[$id] === undefined ? [] : [[$id, described[$id]]]));
  const whole = { ...document, paths, components: { ...document.components, schemas: Object.fromEntries(named) } };
  await nextTurn();
  finish(whole, routed, servers);
  await nextTurn();
  dropUnused(whole);
  return whole;
}

/** The schemas that these refer to, directly or by others: the plugin copies every schema that it gets. */
function findReferenced(roots: readonly object[], schemas: readonly NamedSchema[]): NamedSchema[] {
  const found = new Set<NamedSchema>();
  const visit = (schema: object) => {
    const references = JSON.stringify(schema).matchAll(/"\$ref":"([^"#]+)#"/g);
    const names = new Set(Array.from(references, ([, name]) => name));
    for (const named of schemas) {
      if (!names.has(named.$id) || found.has(named)) continue;
      found.add(named);
      visit(named);
    }
  };
  for (const root of roots) visit(root);
  return schemas.filter((schema) => found.has(schema));
}

/**
 * Registers operations in a second Fastify instance that does not listen: the plugin would cost 30 ms of CPU at every
 * start, and most servers are never asked for the document.
 */
async function describePart(
  operations: readonly Operation[],
  schemas: readonly NamedSchema[],
): Promise<OpenApiDocument> {
  const { default: swagger } = await import('@fastify/swagger');
  // Loading the plugin, registering the routes and making the document take a turn of the event loop each.
  await nextTurn();
  const app = fastify({ exposeHeadRoutes: false, routerOptions: { maxParamLength: 4096 } });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => () => '');
  for (const schema of schemas) app.addSchema(schema);
  await app.register(swagger, {
    // HEAD routes that are operations.
    exposeHeadRoutes: true,
    openapi: {
      openapi: '3.0.3',
      info: {
        title: 'Runwire',
        version: '1.0.0',
        description:
          'Runs agents for your own backend and streams the answers. Every request runs once, is charged once and is never lost.',
        license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
      security: [{ bearer: [] }],
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `schema${index}`) },
  });
  for (const operation of operations) {
    app.route({ method: operation.method, url: operation.path, schema: toSchema(operation), handler: async () => '' });
  }
  await app.ready();
  await nextTurn();
  return app.swagger() as unknown as OpenApiDocument;
}

/** Adds what the schemas cannot contain, because Ajv would refuse it. */
function finish(document: OpenApiDocument, routed: readonly Operation[], servers: OpenApiServers): void {
  document.servers = [{ url: servers.publicUrl() }];
  const attachment = document.components?.schemas?.Attachment;
  if (attachment !== undefined) {
    attachment.discriminator = {
      propertyName: 'type',
      mapping: {
        input_file: '#/components/schemas/FileAttachment',
        input_image: '#/components/schemas/ImageAttachment',
      },
    };
  }
  const usageRecord = document.components?.schemas?.UsageRecord;
  if (usageRecord !== undefined) {
    usageRecord.discriminator = {
      propertyName: 'kind',
      mapping: { run: '#/components/schemas/RunUsageRecord', adjustment: '#/components/schemas/Adjustment' },
    };
  }
  // The plugin adds a suffix to the id of every HEAD operation.
  for (const { head } of Object.values(document.paths ?? {})) {
    if (head !== undefined) head.operationId = String(head.operationId).replace(/-head$/, '');
  }
  const completion = document.paths?.['/get_completion_v2']?.post;
  if (completion !== undefined) {
    const { stagingUrl } = servers;
    completion.servers = [
      { url: servers.publicUrl(), description: 'Production' },
      ...(stagingUrl === null ? [] : [{ url: stagingUrl, description: 'Staging' }]),
    ];
  }
  for (const operation of routed) {
    addExamples(document, operation);
    addEvents(document, operation);
  }
}

/** Deletes schemas that no reference names: schemas that are nullable everywhere are copied, not referenced. */
function dropUnused(document: OpenApiDocument): void {
  const schemas = document.components?.schemas ?? {};
  const references = JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
  const used = new Set([WebhookEvent.$id, ...Array.from(references, ([, name]) => name)]);
  for (const name of Object.keys(schemas)) if (!used.has(name)) delete schemas[name];
}

function getDescription({ operationId, description, clientToken }: Operation): string | undefined {
  const role: Role | null = operationRoles[operationId as RoleOperation];
  const sentences = [
    description,
    role === null ? undefined : `Needs the role \`${role}\`.`,
    clientToken === undefined ? undefined : `A client token needs the permission \`${clientToken}\`.`,
  ].filter((sentence) => sentence !== undefined);
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

export function toSchema(operation: Operation): FastifySchema {
  const { operationId, summary, tags, params, query, headers, body, responses, auth } = operation;
  const description = getDescription(operation);
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [...tags],
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { querystring: query }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
    ...(auth ? {} : { security: [] }),
    response: Object.fromEntries(
      Object.entries(responses).map(
        ([status, { description: text, schema, contentTypes, otherContent, headers: sent }]) => [
          status,
          {
            description: text,
            ...(sent === undefined ? {} : { headers: sent }),
            ...(schema === undefined
              ? { type: 'null' }
              : {
                  content: Object.fromEntries([
                    ...(contentTypes ?? ['application/json']).map((type) => [type, { schema }]),
                    ...Object.entries(otherContent ?? {}).map(([type, other]) => [type, { schema: other }]),
                  ]),
                }),
          },
        ],
      ),
    ),
  } as FastifySchema;
}
