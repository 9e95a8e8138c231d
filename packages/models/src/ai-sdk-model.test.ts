import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { FakeProvider, type ProviderCall } from '@runwire/test-kit/fake-provider.ts';
import { hello, long, USAGE, wire } from '@runwire/test-kit/provider-rig.ts';
import { aiSdkModel, isAiSdkModel } from './ai-sdk-model.ts';
import { aiSdkProvider } from './ai-sdk-provider.ts';
import type { AiSdkCall } from './ai-sdk-types.ts';
import type { ModelRequest } from './model.ts';
import { Listener, modelConformance, modelRequest } from './testing/model-conformance.ts';

const never = () => new AbortController().signal;

async function setUp() {
  const provider = await FakeProvider.start();
  const model = aiSdkModel(
    'ai/m',
    createAnthropic({ baseURL: provider.baseUrl, apiKey: 'sk-1' })('claude-sonnet-5'),
    60_000,
  );
  return { provider, model, [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() };
}

modelConformance('AI SDK', async () => {
  const set = await setUp();
  const open = new Set<ProviderCall>();
  set.provider.onCall = (call: ProviderCall) => {
    open.add(call);
    void call.closed.then(() => open.delete(call));
    const asked = JSON.stringify(call.body);
    if (asked.includes('long')) void call.stream(wire('messages', long));
    else if (asked.includes('endless')) void call.bytes(wire('messages', { ...hello, end: 'none' }));
    else void call.stream(wire('messages', asked.includes('failing') ? { ...hello, end: 'error' } : hello));
  };
  // The client is `fetch`, which shows no sockets: a request that it gave up is closed when the provider has seen it.
  return { ...set, ask: 'Hello', failing: 'failing', endless: 'endless', long: 'long', openConnections: () => 0 };
});

test('AI SDK: an aborted call closes its connection', async () => {
  await using set = await setUp();
  const controller = new AbortController();
  const output = new Listener();
  const done = set.model.call(modelRequest('Hi'), output, controller.signal);
  const call = await set.provider.nextCall();
  await call.bytes(wire('messages', { ...hello, end: 'none' }));
  await output.first();
  controller.abort();
  await assert.rejects(done, { name: 'AbortError' });
  assert.equal(await call.closed, false);
});

test('AI SDK: retries like the other adapters, and tells a refusal by its status', async () => {
  await using set = await setUp();
  const output = new Listener();
  const done = set.model.call(modelRequest('Hi'), output, never());
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  (await set.provider.nextCall()).answer(529, error, { 'retry-after': '0' });
  (await set.provider.nextCall()).answer(503, error, { 'retry-after': '0' });
  await (await set.provider.nextCall()).stream(wire('messages', hello));
  assert.deepEqual((await done).usage, USAGE);
  assert.deepEqual([output.all('text'), output.begins], ['Hello', 1]);
  const refused = set.model.call(modelRequest('Hi'), new Listener(), never());
  (await set.provider.nextCall()).answer(401, {
    type: 'error',
    error: { type: 'authentication_error', message: 'No.' },
  });
  await assert.rejects(refused, {
    code: 'model_error',
    providerStatus: 401,
    message: /refused the API key \(401\); check the key of the provider of ai\/m\.$/,
  });
});

/** A language model that answers with the parts, and records its calls. */
function scripted(version: string, ...parts: readonly object[]) {
  const calls: AiSdkCall[] = [];
  const usage = { inputTokens: { total: 20, cacheRead: 8 }, outputTokens: { total: 9, reasoning: 4 } };
  const finish = { type: 'finish', usage, finishReason: { unified: 'stop', raw: 'stop' } };
  const model = {
    specificationVersion: version,
    provider: 'test',
    modelId: 'm',
    async doStream(call: AiSdkCall) {
      calls.push(call);
      return { stream: ReadableStream.from([...parts, finish]) };
    },
  };
  return { calls, model: aiSdkModel('test/m', model, 60_000) };
}

const bytes = Buffer.from('%PDF');
const REQUEST: Partial<ModelRequest> = {
  prompt: [
    {
      kind: 'user',
      text: 'Look',
      attachments: [
        { kind: 'pdf', name: 'a.pdf', mediaType: 'application/pdf', sizeBytes: 4, pages: 1, read: async () => bytes },
      ],
    },
    { kind: 'assistant', text: 'I do.' },
    { kind: 'tool_call', callId: 'a', name: 'clock', arguments: '{"zone":1}' },
    { kind: 'tool_output', callId: 'a', output: '12:00' },
  ],
  tools: [{ name: 'clock', description: 'The time.', inputSchema: { type: 'object' } }],
  reasoning: { effort: 'low' },
  settings: { temperature: 0.3, topP: 0.5, maxOutputTokens: 500, toolChoice: 'clock' },
};

for (const version of ['v3', 'v4']) {
  test(`AI SDK ${version}: the call as the specification wants it`, async () => {
    const { calls, model } = scripted(version);
    await model.call(modelRequest('', REQUEST), new Listener(), never());
    const { abortSignal, ...call } = calls[0] as AiSdkCall;
    assert.ok(abortSignal instanceof AbortSignal);
    assert.deepEqual(call, {
      prompt: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            {
              type: 'file',
              mediaType: 'application/pdf',
              filename: 'a.pdf',
              data: version === 'v3' ? bytes : { type: 'data', data: bytes },
            },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I do.' },
            { type: 'tool-call', toolCallId: 'a', toolName: 'clock', input: { zone: 1 } },
          ],
        },
        {
          role: 'tool',
          content: [
            { type: 'tool-result', toolCallId: 'a', toolName: 'clock', output: { type: 'text', value: '12:00' } },
          ],
        },
      ],
      temperature: 0.3,
      topP: 0.5,
      maxOutputTokens: 500,
      ...(version === 'v3' ? {} : { reasoning: 'low' }),
      tools: [{ type: 'function', name: 'clock', description: 'The time.', inputSchema: { type: 'object' } }],
      toolChoice: { type: 'tool', toolName: 'clock' },
    });
  });

  test(`AI SDK ${version}: metadata of a call is sent back with the call`, async () => {
    const signed = { google: { thoughtSignature: 'abc' } };
    const first = scripted(version, {
      type: 'tool-call',
      toolCallId: 'x',
      toolName: 'clock',
      input: '{"zone":1}',
      providerMetadata: signed,
    });
    const output = new Listener();
    await first.model.call(modelRequest('Hi'), output, never());
    const [replay] = output.replays;
    assert.ok(replay !== undefined);
    const prompt: ModelRequest['prompt'] = [
      { kind: 'user', text: 'Hi' },
      { kind: 'tool_call', callId: 'ours', name: 'clock', arguments: '{"zone":1}' },
      { kind: 'tool_output', callId: 'ours', output: '12:00' },
    ];
    await first.model.call(
      modelRequest('', { prompt, replays: [{ index: 1, count: 1, replay }] }),
      new Listener(),
      never(),
    );
    assert.deepEqual(first.calls[1]?.prompt[2]?.content, [
      { type: 'tool-call', toolCallId: 'ours', toolName: 'clock', input: { zone: 1 }, providerOptions: signed },
    ]);
  });
}

test('AI SDK: ends that are no answer are failures', async () => {
  const failing = async (...parts: readonly object[]) => {
    const { model } = scripted('v4', ...parts);
    return model.call(modelRequest('Hi'), new Listener(), never());
  };
  const finish = (unified: string, raw?: string) => ({ type: 'finish', usage: {}, finishReason: { unified, raw } });
  const delta = { type: 'text-delta', id: '1', delta: 'Hi' };
  await assert.rejects(failing(delta, finish('length')), { message: /token limit/ });
  await assert.rejects(failing(delta, finish('content-filter', 'safety')), { message: /content filter/ });
  await assert.rejects(failing(delta, finish('content-filter', 'refusal')), { message: /refused to answer/ });
  await assert.rejects(failing(delta, finish('interrupted')), { message: /before the answer was complete/ });
  await assert.rejects(failing(delta, finish('stop', 'pause_turn')), { message: /reason `pause_turn`/ });
  await assert.rejects(failing(delta, finish('tool-calls')), { message: /without its tool call/ });
  await assert.rejects(failing(delta, { type: 'error', error: 'Oops' }), { message: /reported an error: Oops\.$/ });
  await assert.rejects(failing(delta, { type: 'error', error: new Error('Oops') }), { message: /an error: Oops\.$/ });
  await assert.rejects(failing(delta, 7 as unknown as object), { message: /a part that is not valid/ });
});

test('AI SDK: only models of the specifications v3 and v4 are accepted', () => {
  const model = { specificationVersion: 'v4', doStream() {} };
  assert.deepEqual(
    [model, { ...model, specificationVersion: 'v2' }, { specificationVersion: 'v4' }, null, 'm'].map(isAiSdkModel),
    [true, false, false, false, false],
  );
});

test('AI SDK: no failure repeats a text of the options', async () => {
  await using provider = await FakeProvider.start();
  const call = (apiKey: string) => {
    const about = { name: 'ai', package: '@ai-sdk/anthropic', models: new Map(), silenceMs: 60_000 };
    const options = { baseURL: provider.baseUrl, apiKey };
    return aiSdkProvider(
      { createAnthropic },
      { ...about, options },
    )('ai/m').call(modelRequest('Hi'), new Listener(), never());
  };
  provider.onCall = (one) => one.answer(400, { error: { type: 'e', message: 'The key AIza-secret-1 is old.' } });
  await assert.rejects(call('AIza-secret-1'), { message: /refused the request \(400\): The key \*\*\* is old\.$/ });
  await assert.rejects(call('AIza-secret-1\nAIza-secret-2'), (error: Error) => {
    assert.match(error.message, /a header has a character that is not allowed; check the key of the provider of ai\/m/);
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
  const thrown = () => {
    throw new Error('The option AIza-secret-1 is wrong.');
  };
  const about = { name: 'ai', package: 'own', options: { deep: [{ key: 'AIza-secret-1' }] }, models: new Map() };
  assert.throws(() => aiSdkProvider({ createOwn: thrown }, { ...about, silenceMs: 1 }), {
    message: 'The package `own` refused its options: The option *** is wrong.',
  });
});
