import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { FakeProvider } from '@runwire/test-kit/fake-provider.ts';
import { hello, setUp, wire } from '@runwire/test-kit/provider-rig.ts';
import { aiSdkModel } from './ai-sdk-model.ts';
import type { ModelRequest } from './model.ts';
import { Listener, modelRequest } from './testing/model-conformance.ts';
import { sseText } from './testing/provider-streams.ts';

const TOOLS: ModelRequest['tools'] = [{ name: 'clock', description: 'The time.', inputSchema: { type: 'object' } }];
const never = () => new AbortController().signal;

/** A search, a cited text and a call, as OpenAI streams them. */
const RESPONSES_SEARCH = (() => {
  const search = {
    id: 'ws_1',
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'search', query: 'rain' },
  };
  const citation = {
    type: 'url_citation',
    start_index: 0,
    end_index: 9,
    url: 'https://example.com/w',
    title: 'Weather',
  };
  const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'clock', arguments: '{}' };
  const text = { type: 'output_text', text: 'It rains.', annotations: [citation] };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [text] };
  const usage = { input_tokens: 20, output_tokens: 9, input_tokens_details: { cached_tokens: 8 } };
  return [
    { type: 'response.created', response: { id: 'resp_1', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...search, status: 'in_progress' } },
    { type: 'response.web_search_call.in_progress', output_index: 0, item_id: 'ws_1' },
    { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1' },
    { type: 'response.web_search_call.completed', output_index: 0, item_id: 'ws_1' },
    { type: 'response.output_item.done', output_index: 0, item: search },
    { type: 'response.output_item.added', output_index: 1, item: { ...message, content: [] } },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 1, content_index: 0, delta: 'It rains.' },
    { type: 'response.output_text.annotation.added', output_index: 1, content_index: 0, annotation: citation },
    { type: 'response.output_text.done', output_index: 1, content_index: 0, text: 'It rains.' },
    { type: 'response.output_item.done', output_index: 1, item: message },
    { type: 'response.output_item.done', output_index: 2, item: call },
    { type: 'response.completed', response: { id: 'resp_1', output: [search, message, call], usage } },
  ];
})();

test('responses: the search of the provider is requested and read', async () => {
  await using set = await setUp('responses');
  assert.equal(set.model.searchesWeb, true);
  const { output, done } = set.ask({ tools: TOOLS, webSearch: true });
  const call = await set.provider.nextCall();
  assert.deepEqual(
    call.body.tools.map(({ type, name }: { type: string; name?: string }) => [type, name]),
    [
      ['function', 'clock'],
      ['web_search', undefined],
    ],
  );
  await call.stream(sseText(RESPONSES_SEARCH));
  const { usage } = await done;
  assert.deepEqual(output.heard, [
    ['text', 'It rains.'],
    ['call', 'call_1', 'clock', '{}'],
  ]);
  assert.deepEqual([usage?.inputTokens, usage?.outputTokens, usage?.cachedTokens], [20, 9, 8]);
  set.ask({ webSearch: true, settings: { toolChoice: 'required' } });
  const alone = await set.provider.nextCall();
  assert.deepEqual([alone.body.tools, alone.body.tool_choice], [[{ type: 'web_search' }], 'required']);
});

test('chat: a provider of this protocol has no search', async () => {
  await using set = await setUp('chat');
  assert.equal(set.model.searchesWeb, false);
});

/** Thinking, a search, its result, a cited text and a call, as Anthropic streams them. */
const block = (index: number, content_block: object, ...deltas: readonly object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const SEARCH = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
const RESULT = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [
    { type: 'web_search_result', title: 'W', url: 'https://example.com/w', encrypted_content: 'abc', page_age: null },
  ],
};
const CITATION = {
  type: 'web_search_result_location',
  cited_text: 'rain',
  url: 'https://example.com/w',
  title: 'W',
  encrypted_index: 'x',
};
const USED = { input_tokens: 30, output_tokens: 50, server_tool_use: { web_search_requests: 1 } };
const MESSAGES_SEARCH = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      usage: { input_tokens: 12, output_tokens: 1 },
    },
  },
  ...block(0, SEARCH, { type: 'input_json_delta', partial_json: '{"query":"rain"}' }),
  ...block(1, RESULT),
  ...block(
    2,
    { type: 'text', text: '', citations: [] },
    { type: 'text_delta', text: 'It rains.' },
    { type: 'citations_delta', citation: CITATION },
  ),
  ...block(3, { type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} }),
  { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: USED },
  { type: 'message_stop' },
];

const NEXT_PROMPT: ModelRequest['prompt'] = [
  { kind: 'user', text: 'Hi' },
  { kind: 'assistant', text: 'It rains.' },
  { kind: 'tool_call', callId: 'toolu_1', name: 'clock', arguments: '{}' },
  { kind: 'tool_output', callId: 'toolu_1', output: '12:00' },
];

test('messages: the search of the provider is requested, read and sent back with its results', async () => {
  await using set = await setUp('messages', { model: 'claude-sonnet-5' });
  const { output, done } = set.ask({ tools: TOOLS, webSearch: true });
  const call = await set.provider.nextCall();
  assert.deepEqual(call.body.tools[1], { type: 'web_search_20250305', name: 'web_search' });
  await call.stream(sseText(MESSAGES_SEARCH));
  const { usage } = await done;
  assert.deepEqual(output.heard, [
    ['text', 'It rains.'],
    ['call', 'toolu_1', 'clock', '{}'],
  ]);
  assert.deepEqual([usage?.inputTokens, usage?.outputTokens], [30, 50]);
  const [replay] = output.replays;
  assert.ok(replay !== undefined);
  const again = { prompt: NEXT_PROMPT, replays: [{ index: 1, count: 2, replay }], tools: TOOLS };
  set.ask({ ...again, webSearch: true });
  const next = await set.provider.nextCall();
  const blocks = next.body.messages[1].content;
  assert.deepEqual(
    blocks.map(({ type }: { type: string }) => type),
    ['server_tool_use', 'web_search_tool_result', 'text', 'tool_use'],
  );
  assert.deepEqual([blocks[0].input, blocks[1], blocks[2].citations], [{ query: 'rain' }, RESULT, [CITATION]]);
  // Without the tool the blocks of the search would be refused.
  set.ask(again);
  const without = await set.provider.nextCall();
  assert.deepEqual(
    without.body.messages[1].content.map(({ type }: { type: string }) => type),
    ['text', 'tool_use'],
  );
});

test('AI SDK: the search of the provider is requested, read and sent back', async () => {
  await using provider = await FakeProvider.start();
  const own = createAnthropic({ baseURL: provider.baseUrl, apiKey: 'sk-1' })('claude-sonnet-5');
  const model = aiSdkModel('anthropic/claude-sonnet-5', own, 60_000);
  assert.equal(model.searchesWeb, true);
  const output = new Listener();
  const request = { tools: TOOLS, webSearch: true };
  const done = model.call(modelRequest('Hi', request), output, never());
  const call = await provider.nextCall();
  assert.deepEqual(
    call.body.tools.map(({ name, type }: { name: string; type?: string }) => [name, type]),
    [
      ['clock', undefined],
      ['web_search', 'web_search_20250305'],
    ],
  );
  await call.stream(sseText(MESSAGES_SEARCH));
  await done;
  assert.deepEqual([output.all('text'), output.heard.at(-1)], ['It rains.', ['call', 'toolu_1', 'clock', '{}']]);
  const replays = output.replays.map((replay) => ({ index: 1, count: 2, replay }));
  const next = model.call(modelRequest('', { ...request, prompt: NEXT_PROMPT, replays }), new Listener(), never());
  const second = await provider.nextCall();
  const types = second.body.messages[1].content.map(({ type }: { type: string }) => type);
  assert.ok(types.includes('tool_use'), types.join());
  await second.stream(wire('messages', hello));
  await next;
});

test('AI SDK: each provider has its own search, and others have none', () => {
  const model = (provider: string) => ({
    specificationVersion: 'v4',
    provider,
    modelId: 'm',
    doStream: async () => ({ stream: new ReadableStream() }),
  });
  const found = ['google.generative-ai', 'openai.responses', 'xai.responses', 'cohere.chat'].map(
    (provider) => aiSdkModel('p/m', model(provider), 60_000).searchesWeb,
  );
  assert.deepEqual(found, [true, true, true, false]);
});
