import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeProvider } from '@runwire/test-kit/fake-provider.ts';
import { hello, PROTOCOLS, setUp, wire } from '@runwire/test-kit/provider-rig.ts';
import { aiSdkModel } from './ai-sdk-model.ts';
import type { AiSdkCall } from './ai-sdk-types.ts';
import { ProviderModels } from './provider-models.ts';
import { isStrict, messagesSchema } from './structured-output.ts';
import { Listener, modelRequest } from './testing/model-conformance.ts';

const STRICT = {
  type: 'object',
  properties: { done: { type: 'boolean' }, notes: { type: 'array', items: { type: 'string' } } },
  required: ['done', 'notes'],
  additionalProperties: false,
};
const LOOSE = { type: 'object', properties: { cents: { type: 'integer', minimum: 0 } } };

test('a schema is strict if every object is closed and requires all its properties', () => {
  const inside = (properties: object) => ({ ...STRICT, properties, required: Object.keys(properties) });
  const strict = [STRICT, inside({ one: STRICT }), inside({ one: { anyOf: [STRICT, { type: 'null' }] } })];
  const loose = [
    LOOSE,
    { ...STRICT, required: ['done'] },
    { ...STRICT, additionalProperties: true },
    inside({ one: LOOSE }),
    inside({ one: { type: 'array', items: LOOSE } }),
    inside({ one: { anyOf: [STRICT, LOOSE] } }),
    inside({ one: { allOf: [STRICT] } }),
    { ...STRICT, $defs: { one: LOOSE } },
    { type: 'object', additionalProperties: false },
  ];
  assert.deepEqual([strict.map(isStrict), loose.map(isStrict)], [strict.map(() => true), loose.map(() => false)]);
});

test('messages: a schema is closed, and loses the keywords that the protocol refuses', () => {
  assert.deepEqual(messagesSchema(LOOSE), {
    type: 'object',
    properties: { cents: { type: 'integer' } },
    additionalProperties: false,
  });
  const either = { type: 'object', properties: { x: { oneOf: [LOOSE, { type: 'string', maxLength: 5 }] } } };
  assert.deepEqual(messagesSchema(either), {
    type: 'object',
    properties: { x: { anyOf: [messagesSchema(LOOSE), { type: 'string' }] } },
    additionalProperties: false,
  });
  const map = { type: 'object', additionalProperties: { type: 'string' } };
  const refused = [map, { type: 'array' }, { type: 'object', properties: { map } }, { type: 'object', not: {} }];
  assert.deepEqual(refused.map(messagesSchema), [null, null, null, null]);
});

// biome-ignore lint/suspicious/noExplicitAny: bodies of three protocols.
const getFormat = (body: any) => body.text?.format ?? body.response_format?.json_schema ?? body.output_config?.format;
// biome-ignore lint/suspicious/noExplicitAny: bodies of three protocols.
const getInstructions = (body: any): string => body.instructions ?? body.system ?? body.messages[0].content;

for (const api of PROTOCOLS) {
  test(`${api}: a schema is sent to the provider, as strict as it allows`, async () => {
    await using set = await setUp(api, { model: 'claude-sonnet-5' });
    set.provider.onCall = (call) => void call.stream(wire(api, hello));
    for (const output of [STRICT, LOOSE]) {
      await set.ask({ output }).done;
      const { body } = set.provider.calls.at(-1) ?? {};
      const { schema, strict } = getFormat(body);
      assert.deepEqual(schema, api === 'messages' ? messagesSchema(output) : output);
      assert.equal(strict, api === 'messages' ? undefined : output === STRICT);
      assert.equal(getInstructions(body), 'Be brief.');
    }
    await set.ask().done;
    assert.equal(getFormat(set.provider.calls.at(-1)?.body), undefined);
  });

  test(`${api}: a provider that refuses the schema gets it in the instructions, once and for all`, async () => {
    await using set = await setUp(api, { model: 'claude-sonnet-5' });
    set.provider.onCall = (call) => {
      if (getFormat(call.body) === undefined) void call.stream(wire(api, hello));
      else call.answer(400, { error: { message: 'Unknown field.' } });
    };
    for (const calls of [2, 3]) {
      const { output, done } = set.ask({ output: STRICT });
      await done;
      assert.deepEqual([output.all('text'), set.provider.calls.length], ['Hello', calls]);
      const text = getInstructions(set.provider.calls.at(-1)?.body);
      assert.ok(text.startsWith('Be brief.\n\nYour last answer must be one JSON value'), text);
      assert.ok(text.endsWith(JSON.stringify(STRICT)), text);
    }
    // Another schema may be accepted.
    await set.ask({ output: LOOSE }).done;
    assert.equal(set.provider.calls.length, 5);
  });

  test(`${api}: a request that is refused for another reason fails`, async () => {
    await using set = await setUp(api, { model: 'claude-sonnet-5' });
    set.provider.onCall = (call) => call.answer(400, { error: { message: 'Bad image.' } });
    await assert.rejects(set.ask({ output: STRICT }).done, { message: /refused the request \(400\): Bad image\.$/ });
    set.provider.onCall = (call) => call.answer(401, { error: { message: 'No.' } });
    await assert.rejects(set.ask({ output: STRICT }).done, { providerStatus: 401 });
    assert.equal(set.provider.calls.length, 3);
  });
}

test('a model without schemas gets them in its instructions', async () => {
  await using provider = await FakeProvider.start();
  provider.onCall = (call) => void call.stream(wire('chat', hello));
  const traits = new Map([['m', { output: false }]]);
  const options = { name: 'local', api: 'chat' as const, baseUrl: provider.baseUrl, apiKey: null, silenceMs: 60_000 };
  await using models = new ProviderModels({ ...options, models: traits });
  const request = modelRequest('Hi', { output: STRICT });
  await models.model('local/m')?.call(request, new Listener(), new AbortController().signal);
  const [call] = provider.calls;
  assert.equal(getFormat(call?.body), undefined);
  assert.match(getInstructions(call?.body), /this JSON Schema accepts/);
  provider.onCall = (one) => void one.stream(wire('chat', { parts: [{ kind: 'refusal', deltas: ['I cannot.'] }] }));
  const refused = models.model('local/m')?.call(request, new Listener(), new AbortController().signal);
  await assert.rejects(async () => refused, { message: /refused to answer: I cannot/ });
});

test('AI SDK: the package and the instructions get the schema', async () => {
  const calls: AiSdkCall[] = [];
  const own = {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'm',
    async doStream(call: AiSdkCall) {
      calls.push(call);
      const usage = { inputTokens: { total: 2 }, outputTokens: { total: 1 } };
      return { stream: ReadableStream.from([{ type: 'finish', usage, finishReason: { unified: 'stop' } }]) };
    },
  };
  const request = modelRequest('Hi', { output: STRICT });
  for (const traits of [{}, { output: false }]) {
    await aiSdkModel('test/m', own, 60_000, traits).call(request, new Listener(), new AbortController().signal);
  }
  assert.deepEqual(
    calls.map(({ responseFormat }) => responseFormat),
    [{ type: 'json', schema: STRICT, name: 'answer' }, undefined],
  );
  for (const { prompt } of calls) assert.match(String(prompt[0]?.content), /this JSON Schema accepts/);
});
