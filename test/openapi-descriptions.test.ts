import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { responseEventTypes, runItemNames, sseEvents, streamEventTypes } from '@runwire/contract';
import {
  FakeProvider,
  type Frame,
  parseFrames,
  providerEvents,
  sseText,
  startTestServer,
  type TestServer,
} from '@runwire/test-kit';
import { Ajv } from 'ajv';
import * as ajvFormats from 'ajv-formats';

// biome-ignore lint/suspicious/noExplicitAny: the test looks into an OpenAPI document at many depths.
type Json = any;

let provider: FakeProvider;
let server: TestServer;
let described: Json;
let ajv: Ajv;
before(async () => {
  provider = await FakeProvider.start();
  const env = { OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: provider.baseUrl, RUNWIRE_MODEL: 'openai/m' };
  server = await startTestServer({ env });
  described = (await server.api.as(null).get('/openapi.json')).body;
  ajv = new Ajv({ strict: false, meta: false, validateSchema: false });
  (ajvFormats.default as unknown as (ajv: Ajv) => void)(ajv);
  ajv.addSchema(strict(described), 'described');
});
after(async () => {
  await server[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

/** Returns the same document, but objects may have only the fields that it describes. */
function strict(value: Json): Json {
  if (Array.isArray(value)) return value.map(strict);
  if (value === null || typeof value !== 'object') return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, strict(inner)]));
  const isOpen = copy.type === 'object' && copy.properties !== undefined && copy.additionalProperties === undefined;
  return isOpen ? { ...copy, additionalProperties: false } : copy;
}

const pointer = (...path: string[]) =>
  `described#/${path.map((one) => encodeURIComponent(one.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;

/** Returns what is wrong with the value by the schema at this place of the document, or null. */
function problem(value: unknown, ...path: string[]): string | null {
  const validate = ajv.compile({ $ref: pointer(...path) });
  return validate(value) ? null : `${path.join(' ')}: ${ajv.errorsText(validate.errors)} ${JSON.stringify(value)}`;
}

const toSchema = (value: Json): Json =>
  value.$ref === undefined ? value : described.components.schemas[value.$ref.split('/').at(-1)];

const operations = (): (readonly [path: string, method: string, operation: Json])[] =>
  Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Json).map(([method, operation]) => [path, method, operation] as const),
  );

/** Yields every field in the document with its place. */
function* fields(value: Json, place: string): Generator<readonly [string, Json]> {
  if (value === null || typeof value !== 'object') return;
  for (const [key, inner] of Object.entries(value as Record<string, Json>)) {
    if (key === 'example') continue;
    const isMap = key === 'properties' || key === 'headers';
    if (isMap) for (const [name, field] of Object.entries(inner)) yield [`${place}.${name}`, field];
    yield* fields(inner, isMap ? place : `${place}.${key}`);
  }
}

test('every operation, schema, field, parameter and header has a description', () => {
  const missing: string[] = [];
  const check = (place: string, value: Json) => {
    const text = value.description ?? toSchema(value).description ?? value.schema?.description ?? value.summary;
    if (typeof text !== 'string' || text.length < 2) missing.push(place);
  };
  for (const [name, schema] of Object.entries(described.components.schemas)) check(name, schema);
  for (const [path, method, operation] of operations()) {
    check(`${method} ${path}`, operation);
    for (const parameter of operation.parameters ?? []) check(`${method} ${path} ${parameter.name}`, parameter);
  }
  let seen = 0;
  for (const [place, field] of fields({ schemas: described.components.schemas, paths: described.paths }, '')) {
    check(place, field);
    seen += 1;
  }
  assert.ok(seen > 400, String(seen));
  assert.deepEqual(missing, []);
});

test('every operation has a valid example of its request and answer', () => {
  const problems: (string | null)[] = [];
  let examples = 0;
  const check = (example: unknown, ...path: string[]) => {
    examples += 1;
    problems.push(example === undefined ? `${path.join(' ')}: no example` : problem(example, ...path, 'schema'));
  };
  for (const [path, method, operation] of operations()) {
    const at = ['paths', path, method];
    for (const [index, parameter] of (operation.parameters ?? []).entries()) {
      if (parameter.required === true || parameter.example !== undefined) {
        check(parameter.example, ...at, 'parameters', String(index));
      }
    }
    const body = operation.requestBody?.content['application/json'];
    if (body !== undefined) check(body.example, ...at, 'requestBody', 'content', 'application/json');
    const answers = Object.entries(operation.responses as Json).filter(([status]) => /^[23]/.test(status));
    const contents = answers.flatMap(([status, { content = {} }]: [string, Json]) =>
      Object.entries(content).map(([type, { example }]: [string, Json]) => ({ status, type, example })),
    );
    const shown = contents.filter(({ example }) => example !== undefined);
    if (contents.length > 0 && shown.length === 0) problems.push(`${method} ${path}: no example of the answer`);
    for (const { status, type, example } of shown) {
      check(example, ...at, 'responses', status, 'content', type);
      if (type === 'text/event-stream') problems.push(...frameProblems(parseFrames(example), path, method));
    }
  }
  assert.ok(examples > 100, String(examples));
  assert.deepEqual(
    problems.filter((one) => one !== null),
    [],
  );
});

/** Returns what is wrong with the frames by the streaming operation's schemas. */
function frameProblems(frames: readonly Frame[], path = '/get_completion_v2', method = 'post'): string[] {
  const at = ['paths', path, method, 'responses', '200', 'content', 'text/event-stream', 'x-sse-events'];
  return frames
    .map(({ event, data }) => problem(event === 'end' ? data : JSON.parse(data), ...at, event ?? 'message'))
    .filter((one) => one !== null);
}

test('every event name has a schema in the streaming operations', () => {
  const streams = operations().flatMap(([, , { responses }]) => {
    const stream = responses['200']?.content?.['text/event-stream'];
    return stream === undefined ? [] : [stream['x-sse-events']];
  });
  assert.equal(streams.length, 4);
  for (const events of streams)
    assert.deepEqual(Object.keys(events).sort(), [...Object.values(sseEvents), 'message'].sort());
  const unnamed: Json[] = streams[0].message.anyOf.map(toSchema);
  const byType = (type: string) =>
    unnamed.find(({ properties }) => properties.data?.properties.type.enum.includes(type));
  for (const type of Object.values(streamEventTypes)) assert.ok(byType(type) !== undefined, type);
  const raw: Json[] = byType(streamEventTypes.rawResponse).properties.data.properties.data.anyOf.map(toSchema);
  assert.deepEqual(raw.flatMap(({ properties }) => properties.type.enum).sort(), [...responseEventTypes].sort());
  const { name } = byType(streamEventTypes.runItem).properties.data.properties;
  for (const one of runItemNames) assert.ok(name.enum.includes(one), one);
});

test('the frames of real runs match the schemas of their events', async () => {
  const answering = server.api.complete({ colour: 'red' });
  const said = [
    [
      { kind: 'reasoning', deltas: ['The clock', ' knows.'] },
      { kind: 'calls', calls: [['call_1', 'clock', '{}']] },
    ],
    [{ kind: 'text', deltas: ['No', 'on.'] }],
  ] as const;
  for (const parts of said) {
    const call = await provider.nextCall();
    await call.stream(sseText(providerEvents('responses', { parts })));
  }
  const completed = await (await answering).whole();
  const failing = server.api.complete({});
  (await provider.nextCall()).answer(400, { error: { message: 'No.' } });
  const failed = await (await failing).whole();
  assert.deepEqual(frameProblems([...completed, ...failed]), []);
  const types = new Set(
    completed.filter(({ event }) => event === null).map(({ data }) => JSON.parse(data).data.data?.type),
  );
  for (const type of responseEventTypes) assert.ok(types.has(type), type);
  assert.ok(failed.some(({ event, data }) => event === null && JSON.parse(data).code === 'model_error'));
  // A field that no schema describes is found.
  const [meta] = completed as [Frame];
  const planted = { ...meta, data: JSON.stringify({ ...JSON.parse(meta.data), colour: 'red' }) };
  assert.match(frameProblems([planted])[0] ?? '', /additional properties/);
});
