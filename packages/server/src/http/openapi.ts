import { GetCompletionV2Request, namedSchemas, type Operation } from '@runwire/contract/schemas';
import { type FastifyInstance, type FastifySchema, fastify } from 'fastify';

export interface OpenApiServers {
  /** Asked when the description is: by then the server knows where it listens. */
  readonly publicUrl: () => string;
  readonly stagingUrl: string | null;
}

type Document = Record<string, unknown> & {
  components?: { schemas?: Record<string, Record<string, unknown>> };
  paths?: Record<string, Record<string, Record<string, unknown>>>;
};

/** The named schemas of the contract. The longest message is the only limit in them that is a setting. */
export function schemasWithLimit(maxLength: number) {
  const { properties } = GetCompletionV2Request;
  const limited = {
    ...GetCompletionV2Request,
    properties: { ...properties, message: { ...properties.message, maxLength } },
  };
  return namedSchemas.map((schema) => (schema === GetCompletionV2Request ? limited : schema));
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The OpenAPI document of all routes. */
    describe(): Promise<Document>;
  }
}

/** Makes the schemas known that others refer to, and describes what is routed here when somebody first asks for it. */
export function registerOpenApi(
  app: FastifyInstance,
  servers: OpenApiServers,
  limits: { readonly messageCharacters: number },
): void {
  const schemas = schemasWithLimit(limits.messageCharacters);
  for (const schema of schemas) app.addSchema(schema);
  const routed: Operation[] = [];
  app.addHook('onRoute', ({ config }) => {
    if (config?.operation !== undefined) routed.push(config.operation);
  });
  let document: Promise<Document> | undefined;
  app.decorate('describe', () => {
    document ??= describe(routed, schemas, servers).catch((error: unknown) => {
      // Whoever asks next may have more luck.
      document = undefined;
      throw error;
    });
    return document;
  });
}

/**
 * The description is made from the routes' own schemas: there is no second source. It is made of routes that nobody can
 * ask for, beside the server's: what makes it costs each start 30 ms of processor, and most are never asked.
 */
async function describe(
  routed: readonly Operation[],
  schemas: readonly object[],
  servers: OpenApiServers,
): Promise<Document> {
  const { default: swagger } = await import('@fastify/swagger');
  const app = fastify({ exposeHeadRoutes: false, routerOptions: { maxParamLength: 4096 } });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => () => '');
  for (const schema of schemas) app.addSchema(schema);
  await app.register(swagger, {
    // Those that are operations of their own.
    exposeHeadRoutes: true,
    openapi: {
      openapi: '3.0.3',
      info: {
        title: 'Runwire',
        version: '1.0.0',
        description: 'Runs agents for your own backend and streams them; never runs, charges or loses a request twice.',
        license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
      security: [{ bearer: [] }],
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `schema${index}`) },
    transformObject: (source) => finish((source as { openapiObject: Document }).openapiObject, servers) as never,
  });
  for (const operation of routed) {
    app.route({ method: operation.method, url: operation.path, schema: schemaOf(operation), handler: async () => '' });
  }
  await app.ready();
  return app.swagger() as unknown as Document;
}

/** What the schemas cannot say, because Ajv would refuse it. */
function finish(document: Document, servers: OpenApiServers): Document {
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
  // The generator takes every HEAD for the shadow of a GET.
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
  dropUnused(document);
  return document;
}

/** Schemas that only stand inside others, written out there because a nullable one cannot be referred to. */
function dropUnused(document: Document): void {
  const schemas = document.components?.schemas ?? {};
  const text = JSON.stringify(document);
  for (const name of Object.keys(schemas)) {
    if (!text.includes(`"#/components/schemas/${name}"`)) delete schemas[name];
  }
}

export function schemaOf(operation: Operation): FastifySchema {
  const { operationId, summary, description, tags, params, query, headers, body, responses, auth } = operation;
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
        ([status, { description: said, schema, contentTypes, otherContent, headers: sent }]) => [
          status,
          {
            description: said,
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
