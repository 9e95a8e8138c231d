import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FakeProvider,
  type Protocol,
  providerEvents,
  type StreamScript,
  sseText,
  startTestServer,
  testAgency,
} from '@runwire/test-kit';
import { createLogger } from '../packages/server/src/telemetry/logger.ts';
import { cites } from '../requirements/cite.ts';

const KEY = 'sk-planted-0123456789abcdef';
const PROTOCOLS: readonly Protocol[] = ['responses', 'chat'];
const USAGE = { requestCount: 1, inputTokens: 30, cachedTokens: 10, outputTokens: 8, reasoningTokens: 3 };

async function setUp(api: Protocol, limits = {}) {
  const provider = await FakeProvider.start();
  const env = {
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: provider.baseUrl,
    RUNWIRE_MODEL: 'openai/m',
    RUNWIRE_OPENAI_API: api,
  };
  const server = await startTestServer({ env, limits, agencies: { test: testAgency }, logger: createLogger('silent') });
  await server.api.post('/v2/integrations', { apiIntegrationId: 'tools', agency: 'test' });
  const wire = (script: StreamScript) => sseText(providerEvents(api, script));
  const dispose = async () => {
    await server[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  };
  return { provider, api: server.api, wire, [Symbol.asyncDispose]: dispose };
}

// biome-ignore lint/suspicious/noExplicitAny: frames of many shapes.
const inner = (data: string): any => JSON.parse(data).data;

for (const protocol of PROTOCOLS) {
  test(`${protocol}: a cancel keeps and charges what the provider said`, async () => {
    await using set = await setUp(protocol);
    const reader = await set.api.complete({ usageRequestId: 'u', chatId: 'c' });
    const call = await set.provider.nextCall();
    await call.bytes(set.wire({ parts: [{ kind: 'text', deltas: ['Twelve bytes'] }], end: 'none' }));
    await reader.untilText('Twelve bytes');
    const runId = reader.headers['x-run-id'];
    const { body } = await set.api.post(`/v2/integrations/demo/runs/${runId}/cancel`);
    assert.equal(await call.closed, false, 'the connection was closed, not ended');
    assert.deepEqual([body.status, body.usage.output_tokens, body.usage.request_count], ['cancelled', 3, 1]);
    assert.equal(set.provider.calls.length, 1);
    const { body: status } = await set.api.get('/v2/integrations/demo/chat_status?usageRequestId=u');
    assert.deepEqual([status.status, status.run.message], ['idle', 'Twelve bytes']);
  });

  test(`${protocol}: a cancel during the wait for a busy provider ends the wait`, async () => {
    await using set = await setUp(protocol);
    const reader = await set.api.complete({});
    (await set.provider.nextCall()).answer(429, {}, { 'retry-after': '29' });
    const runId = reader.headers['x-run-id'];
    const { body } = await set.api.post(`/v2/integrations/demo/runs/${runId}/cancel`);
    assert.deepEqual([body.status, set.provider.calls.length], ['cancelled', 1]);
  });

  test(`${protocol}: reasoning, text and two calls reach the stream`, async (t) => {
    cites(t, 'contract-5-raw-reasoning', 'contract-5-raw-function-call');
    await using set = await setUp(protocol);
    const answering = set.api.complete({ apiIntegrationId: 'tools', message: 'Go' });
    const first = await set.provider.nextCall();
    assert.deepEqual(
      first.body.tools.map((tool: { name?: string; function?: { name: string } }) => tool.name ?? tool.function?.name),
      ['echo', 'break'],
    );
    await first.stream(
      set.wire({
        parts: [
          { kind: 'reasoning', deltas: ['I need ', 'both.'] },
          {
            kind: 'calls',
            calls: [
              ['call_1', 'echo', '{"a":1}'],
              ['call_2', 'break', '{}'],
            ],
          },
        ],
        usage: USAGE,
      }),
    );
    const second = await set.provider.nextCall();
    const said = JSON.stringify(second.body.input ?? second.body.messages);
    for (const part of ['call_1', 'call_2', 'it broke']) assert.ok(said.includes(part), said);
    await second.stream(set.wire({ parts: [{ kind: 'text', deltas: ['Do', 'ne'] }], usage: USAGE }));
    const reader = await answering;
    const frames = await reader.whole();
    assert.equal(reader.answer, 'Done');
    const raw = frames.filter(({ event }) => event === null).map(({ data }) => inner(data)?.data);
    const of = (type: string) => raw.filter((event) => event?.type === type);
    assert.deepEqual(
      of('response.reasoning_summary_text.delta').map(({ delta }) => delta),
      ['I need ', 'both.'],
    );
    assert.deepEqual(
      of('response.reasoning_summary_text.done').map(({ text }) => text),
      ['I need both.'],
    );
    for (const [type, field] of [
      ['delta', 'delta'],
      ['done', 'arguments'],
    ] as const) {
      assert.deepEqual(
        of(`response.function_call_arguments.${type}`).map((event) => event[field]),
        ['{"a":1}', '{}'],
      );
    }
    const ending = JSON.parse(frames.at(-2)?.data ?? '{}');
    assert.deepEqual(ending.usage, {
      request_count: 2,
      input_tokens: 60,
      cached_tokens: 20,
      output_tokens: 16,
      reasoning_tokens: 6,
      total_tokens: 76,
    });
  });
}

test('a tool call that a provider sends twice is called once', async () => {
  await using set = await setUp('responses');
  const answering = set.api.complete({ apiIntegrationId: 'tools' });
  const events = providerEvents('responses', { parts: [{ kind: 'calls', calls: [['call_1', 'echo', '{}']] }] });
  const twice = events.flatMap((event) => (JSON.stringify(event).includes('item.done') ? [event, event] : [event]));
  await (await set.provider.nextCall()).stream(sseText(twice));
  const second = await set.provider.nextCall();
  const kinds = second.body.input.map((item: { type?: string }) => item.type ?? 'message');
  assert.deepEqual(kinds, ['message', 'function_call', 'function_call_output']);
  await second.stream(set.wire({ parts: [{ kind: 'text', deltas: ['Once'] }] }));
  assert.equal((await (await answering).whole()).at(-1)?.event, 'end');
});
