import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { namedSchemas, type Operation, operations } from '@runwire/contract/schemas';
import { startTestServer, type TestServer } from '@runwire/test-kit';
import { Ajv } from 'ajv';
import * as ajvFormats from 'ajv-formats';
import { cites } from '../requirements/cite.ts';
import { pickColumn } from './support/columns.ts';

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is looked into at many depths.
type Json = any;

const PUBLIC = 'https://agents.example.com';
const STAGING = 'https://staging.agents.example.com';

let server: TestServer;
let described: Json;
before(async () => {
  // Operators often write the slash at the end.
  server = await startTestServer({ env: { RUNWIRE_PUBLIC_URL: `${PUBLIC}/`, RUNWIRE_STAGING_URL: STAGING } });
  described = (await server.api.as(null).get('/openapi.json')).body;
});
after(() => server[Symbol.asyncDispose]());

const schema = (name: string): Json => described.components.schemas[name];
const field = (name: string, property: string): Json => {
  const { description: _, ...rest } = schema(name).properties[property];
  return rest;
};

/** Every object in the document, with its path. */
function* objects(value: Json, path = ''): Generator<readonly [string, Record<string, Json>]> {
  if (value === null || typeof value !== 'object') return;
  if (!Array.isArray(value)) yield [path, value];
  for (const [key, below] of Object.entries(value)) yield* objects(below, `${path}/${key}`);
}

test('every schema is valid, and all its references exist', () => {
  const ajv = new Ajv({ strict: false, discriminator: true });
  (ajvFormats.default as unknown as (ajv: Ajv) => void)(ajv);
  for (const named of namedSchemas) ajv.addSchema(named, named.$id);
  const parts = Object.values(operations as Record<string, Operation>).flatMap(({ operationId, ...operation }) =>
    (['params', 'query', 'headers', 'body'] as const).flatMap((part) =>
      operation[part] === undefined ? [] : [[`${operationId}.${part}`, operation[part]] as const],
    ),
  );
  const answers = Object.values(operations as Record<string, Operation>).flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { schema, otherContent = {} }]) =>
      [...(schema === undefined ? [] : [schema]), ...Object.values(otherContent)].map(
        (one) => [`${operationId}.${status}`, one] as const,
      ),
    ),
  );
  const all = [...namedSchemas.map((named) => [named.$id, named] as const), ...parts, ...answers];
  assert.ok(all.length > 200);
  for (const [name, value] of all) {
    assert.ok(ajv.validateSchema(value), `${name}: ${ajv.errorsText()}`);
    // The server compiles a schema when a request first needs it, so users would find a broken reference.
    assert.doesNotThrow(() => ajv.compile(value), name);
  }
});

test('the public description is OpenAPI 3.0.3 with bearer security for all', async (t) => {
  cites(t, 'contract-3-openapi-json', 'contract-3-openapi-head', 'spec-9-version', 'spec-5-scheme');
  const answer = await fetch(`${server.url}/openapi.json`);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(described.openapi, '3.0.3');
  assert.equal(described.info.version, '1.0.0');
  const [name] = Object.keys(described.components.securitySchemes);
  assert.deepEqual(described.components.securitySchemes[name ?? ''], {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
  });
  assert.deepEqual(described.security, [{ [name ?? '']: [] }]);
  for (const [path, operation] of describedOperations()) {
    const open = [
      '/',
      '/healthz',
      '/readyz',
      '/openapi.json',
      '/docs',
      '/agency.schema.json',
      '/evals.schema.json',
    ].includes(path);
    assert.deepEqual(operation.security, open ? [] : undefined, path);
  }
});

function describedOperations(): (readonly [string, Json, string])[] {
  return Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Json).map(([method, operation]) => [path, operation, method] as const),
  );
}

test('it describes every operation that there is, and no other', (t) => {
  cites(t, 'contract-3-openapi-upload', 'contract-3-rest');
  const all = Object.values(operations as Record<string, Operation>).map(
    ({ method, path, operationId }) => `${method} ${path.replace(/:([A-Za-z]+)/g, '{$1}')} ${operationId}`,
  );
  const shown = describedOperations().map(([path, { operationId }, method]) => {
    return `${method.toUpperCase()} ${path} ${operationId}`;
  });
  assert.deepEqual(shown.sort(), all.sort());
  assert.ok(shown.includes('POST /create_agency_upload createAgencyUpload'));
  // Paths are REST under /v2, with the resources of an integration below it.
  const around = Object.keys(described.paths).filter(
    (path) =>
      !/^\/(get_completion_v2|create_agency_upload|healthz|readyz|metrics|docs|openapi\.json|(agency|evals)\.schema\.json)?$/.test(
        path,
      ),
  );
  for (const path of around)
    assert.match(path, /^\/v2\/(integrations|owners|api_keys|agencies|nodes|audit|people|questions|overview|me)\b/);
  for (const path of around.filter((one) => /runs|chats|chat_status|members|usage/.test(one))) {
    assert.match(path, /^\/v2\/integrations\/\{apiIntegrationId\}\//);
  }
});

test('getCompletionV2 is POST /get_completion_v2 with its own servers', async (t) => {
  cites(
    t,
    'contract-3-openapi-servers',
    'contract-1-public-url',
    'contract-1-staging-url',
    'spec-4.1-path',
    'spec-4.1-operation-id',
    'spec-4.1-servers',
    'spec-9-path-marker',
  );
  const operation = described.paths['/get_completion_v2'].post;
  assert.equal(operation.operationId, 'getCompletionV2');
  assert.deepEqual(pickColumn(operation.servers, 'url'), [PUBLIC, STAGING]);
  assert.match(operation.servers[1].description, /staging/i);
  assert.equal(described.servers[0].url, PUBLIC);
  await using plain = await startTestServer();
  const without = (await plain.api.get('/openapi.json')).body.paths['/get_completion_v2'].post;
  assert.equal(without.servers.length, 1, 'no staging server where none is set');
  const reader = await plain.api.complete({});
  assert.equal(reader.status, 200, 'and there it is');
  reader.cut();
});

test('a completion has two media types, and six statuses with the header', (t) => {
  cites(t, 'contract-3-openapi-answers', 'spec-4.1-headers', 'spec-4.1-body', 'spec-4.1-error-responses');
  const { requestBody, responses } = described.paths['/get_completion_v2'].post;
  assert.deepEqual(Object.keys(requestBody.content), ['application/json']);
  assert.deepEqual(requestBody.content['application/json'].schema, {
    $ref: '#/components/schemas/GetCompletionV2Request',
  });
  assert.equal(requestBody.required, true);
  assert.deepEqual(Object.keys(responses['200'].content).sort(), ['text/event-stream', 'text/plain']);
  for (const status of ['400', '401', '403', '404', '409', '429']) {
    const { content, headers } = responses[status];
    assert.deepEqual(content, { 'application/json': { schema: { $ref: '#/components/schemas/ApiErrorResponse' } } });
    assert.deepEqual(headers['X-Agent-Run-Admitted'].schema.enum, ['false'], status);
  }
});

test('schemas are called as the specification calls them', (t) => {
  cites(t, 'contract-3-openapi-schema-names');
  for (const name of ['GetCompletionV2Request', 'Attachment', 'SandboxFile', 'ApiErrorResponse']) {
    assert.equal(schema(name)?.type, 'object', name);
  }
});

test('fields, types and required fields are those of the specification', (t) => {
  cites(t, 'contract-3-openapi-keywords', 'contract-3-openapi-sizes', 'spec-2.4-error', 'spec-2.4-code');
  const completion = schema('GetCompletionV2Request');
  assert.deepEqual(completion.required, ['apiIntegrationId', 'message']);
  assert.deepEqual(Object.keys(completion.properties), [
    'apiIntegrationId',
    'message',
    'agent',
    'chatId',
    'aliasChatId',
    'attachments',
    'sandboxFiles',
    'user_context',
    'consumerId',
    'usageRequestId',
    'answers',
    'clientTools',
    'history',
    'instructions',
    'attachmentUrlRefreshes',
  ]);
  for (const name of ['chatId', 'aliasChatId']) assert.equal(field('GetCompletionV2Request', name).nullable, true);
  for (const name of ['apiIntegrationId', 'message', 'agent', 'consumerId', 'usageRequestId']) {
    const { type, nullable } = field('GetCompletionV2Request', name);
    assert.deepEqual([type, nullable], ['string', undefined], name);
  }
  const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  assert.deepEqual(field('GetCompletionV2Request', 'attachments'), {
    type: 'array',
    items: refTo('Attachment'),
    maxItems: 5,
  });
  assert.deepEqual(field('GetCompletionV2Request', 'sandboxFiles'), {
    type: 'array',
    items: refTo('SandboxFile'),
    maxItems: 5,
  });
  assert.deepEqual(field('GetCompletionV2Request', 'attachmentUrlRefreshes'), {
    type: 'object',
    additionalProperties: { type: 'string', format: 'uri' },
  });
  assert.deepEqual(field('GetCompletionV2Request', 'user_context').anyOf, [
    { type: 'object', additionalProperties: true, nullable: true },
    { type: 'string' },
  ]);

  const { discriminator, oneOf } = schema('Attachment');
  assert.equal(discriminator.propertyName, 'type');
  const [file, image] = ['input_file', 'input_image'].map((type) => discriminator.mapping[type].split('/').at(-1));
  assert.deepEqual(oneOf, [refTo(file), refTo(image)]);
  assert.deepEqual([schema(file).required, schema(file).additionalProperties], [['type', 'file_url'], false]);
  assert.deepEqual([schema(image).required, schema(image).additionalProperties], [['type', 'image_url'], false]);
  assert.deepEqual(field(file, 'type'), { type: 'string', enum: ['input_file'] });
  assert.deepEqual(field(file, 'file_url'), { type: 'string', format: 'uri' });
  assert.deepEqual(field(file, 'filename'), { type: 'string' });
  assert.deepEqual(field(image, 'type'), { type: 'string', enum: ['input_image'] });
  assert.deepEqual(field(image, 'image_url'), { type: 'string', minLength: 1 });
  assert.deepEqual(field(image, 'detail'), { type: 'string', enum: ['auto', 'low', 'high'], default: 'auto' });

  assert.deepEqual(schema('SandboxFile').required, ['name', 'path']);
  assert.deepEqual([field('SandboxFile', 'name').type, field('SandboxFile', 'path').type], ['string', 'string']);

  assert.deepEqual(schema('ApiErrorResponse').required, ['error']);
  assert.deepEqual(field('ApiErrorResponse', 'error'), { type: 'string' });
  assert.deepEqual(field('ApiErrorResponse', 'code'), { type: 'string', nullable: true });

  const upload = described.paths['/create_agency_upload'].post.requestBody.content['application/json'].schema;
  const { sizeBytes } = schema(upload.$ref.split('/').at(-1)).properties;
  assert.deepEqual([sizeBytes.type, sizeBytes.minimum, sizeBytes.maximum], ['integer', 1, 20_971_520]);
});

test('nothing is invalid in 3.0: no const, no type lists, no broken reference', (t) => {
  cites(t, 'contract-3-openapi-no-const');
  for (const [path, object] of objects(described)) {
    const isNames = /\/(properties|schemas|headers|responses|mapping|paths)$/.test(path);
    if (isNames) continue;
    for (const keyword of ['const', '$id', '$schema', 'patternProperties', 'examples', 'if', '$defs']) {
      assert.ok(!(keyword in object), `${path}/${keyword}`);
    }
    assert.ok(!Array.isArray(object.type) && object.type !== 'null', path);
    if (typeof object.$ref !== 'string') continue;
    assert.ok(schema(object.$ref.replace('#/components/schemas/', '')) !== undefined, `${path}: ${object.$ref}`);
  }
});

test('names in JSON are camelCase, with the known exceptions', (t) => {
  cites(t, 'contract-3-camel-case');
  const ofTheSpecification = ['user_context', 'file_url', 'image_url'];
  const usage = /^(request_count|(input|cached|output|reasoning|total)_tokens)$/;
  let seen = 0;
  for (const [path, object] of objects(described.components.schemas)) {
    // Names inside stream frames are those of the OpenAI Responses API and of agency-swarm.
    if (!path.endsWith('/properties') || /^\/(Stream|Response)/.test(path)) continue;
    const names = Object.keys(object);
    if (names.some((name) => usage.test(name))) {
      for (const name of names) assert.match(name, /^[a-z]+(_[a-z]+)*$/, path);
      continue;
    }
    for (const name of names.filter((one) => !ofTheSpecification.includes(one))) {
      assert.match(name, /^[a-z][a-zA-Z0-9]*$/, `${path}/${name}`);
      seen += 1;
    }
  }
  assert.ok(seen > 100);
});
