import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { ProviderCall } from '@runwire/test-kit/fake-provider.ts';
import { getProvider, hello, KEY, long, PROTOCOLS, setUp, USAGE, wire } from '@runwire/test-kit/provider-rig.ts';
import type { ModelRequest } from './model.ts';
import { modelConformance } from './testing/model-conformance.ts';
import { providerEvents, sseText } from './testing/provider-streams.ts';
import type { StreamScript } from './testing/stream-script.ts';

/** Records the sockets that undici opens. */
function clientSockets() {
  const sockets: Socket[] = [];
  const onConnected = (message: unknown) => sockets.push((message as { socket: Socket }).socket);
  subscribe('undici:client:connected', onConnected);
  return {
    open: () => sockets.filter((socket) => !socket.destroyed).length,
    stop: () => unsubscribe('undici:client:connected', onConnected),
  };
}

/** Events of each protocol that are not valid. */
const GARBAGE = {
  responses: [
    'data: {"type":"response.output_text.delta","delta":{}}\n\n',
    'data: {"type":"response.output_item.done","item":{"type":"function_call","name":7}}\n\n',
  ],
  chat: ['data: {"choices":[{"delta":{"content":5}}]}\n\n', 'data: {"choices":[{"delta":{"tool_calls":[7]}}]}\n\n'],
  messages: [
    'data: {"type":"message_start"}\n\n',
    'data: {"type":"message_stop"}\n\n',
    sseText([
      { type: 'message_start', message: {} },
      { type: 'content_block_start', index: 0 },
    ]),
    sseText([
      { type: 'message_start', message: {} },
      { type: 'message_start', message: {} },
    ]),
    sseText([{ type: 'message_start', message: {} }, { type: 'message_stop' }]),
    sseText([
      { type: 'message_start', message: {} },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 5 } },
    ]),
    sseText([
      { type: 'message_start', message: {} },
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', name: 7 } },
      { type: 'content_block_stop', index: 0 },
    ]),
  ],
};

const USAGE_NAMES = {
  responses: ['input_tokens', 'output_tokens', 'cached_tokens', 20],
  chat: ['prompt_tokens', 'completion_tokens', 'cached_tokens', 20],
  messages: ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 12],
} as const;

for (const api of PROTOCOLS) {
  modelConformance(api, async () => {
    const set = await setUp(api);
    const sockets = clientSockets();
    set.provider.onCall = (call: ProviderCall) => {
      const asked = JSON.stringify(call.body);
      if (asked.includes('long')) void call.stream(wire(api, long));
      else if (asked.includes('endless')) void call.bytes(wire(api, { parts: hello.parts, end: 'none' }));
      else void call.stream(wire(api, asked.includes('failing') ? { ...hello, end: 'error' } : hello));
    };
    return {
      model: set.model,
      ask: 'Hello',
      failing: 'failing',
      endless: 'endless',
      long: 'long',
      openConnections: sockets.open,
      async [Symbol.asyncDispose]() {
        sockets.stop();
        await set[Symbol.asyncDispose]();
      },
    };
  });

  test(`${api}: passes on text, reasoning, refusals, parallel calls and token counts in order`, async () => {
    await using set = await setUp(api);
    const { output, done } = set.ask();
    const script: StreamScript = {
      parts: [
        { kind: 'reasoning', deltas: ['Let me ', 'see.'] },
        { kind: 'text', deltas: ['Hé', 'llo 😀'] },
        { kind: 'refusal', deltas: ['I will', ' not.'] },
        {
          kind: 'calls',
          calls: [
            ['call_a', 'clock', '{"zone":"UTC"}'],
            ['call_b', 'echo', '{}'],
          ],
        },
      ],
      usage: USAGE,
    };
    await (await set.provider.nextCall()).stream(wire(api, script));
    assert.deepEqual((await done).usage, USAGE);
    assert.deepEqual([output.all('reasoning'), output.all('text')], ['Let me see.', 'Héllo 😀I will not.']);
    assert.deepEqual(output.calls, [
      ['call_a', 'clock', '{"zone":"UTC"}'],
      ['call_b', 'echo', '{}'],
    ]);
  });

  test(`${api}: reuses connections and passes on each tool call when it arrives`, async () => {
    await using set = await setUp(api);
    for (let round = 0; round < 6; round += 1) {
      const { output, done } = set.ask();
      const call = await set.provider.nextCall();
      const [first = '', ...others] = wire(api, hello).split(/(?<=\n\n)/);
      const upTo = others.findIndex((event) => event.includes('Hel')) + 1;
      await call.bytes([first, ...others.slice(0, upTo)].join(''));
      await output.first();
      assert.equal(output.all('text'), 'Hel');
      await call.stream(others.slice(upTo).join(''));
      await done;
      assert.equal(output.all('text'), 'Hello');
      await call.closed;
    }
    // A call may begin before the previous answer has completely ended.
    assert.ok(set.provider.connections <= 2);
  });

  test(`${api}: a truncated or filtered answer is a failure, and its usage counts`, async () => {
    await using set = await setUp(api);
    for (const [end, sentence] of [
      ['length', /token limit/],
      ['content_filter', api === 'messages' ? /refused to answer; change the message/ : /content filter/],
    ] as const) {
      const { output, done } = set.ask();
      await (await set.provider.nextCall()).stream(wire(api, { ...hello, end }));
      await assert.rejects(done, { code: 'model_error', message: sentence });
      assert.deepEqual([output.all('text'), output.reported], ['Hello', USAGE]);
    }
  });

  test(`${api}: an end without the last event is a failure, retried only without output`, async () => {
    await using set = await setUp(api);
    const answer = set.ask();
    await (await set.provider.nextCall()).stream(wire(api, { ...hello, end: 'none' }));
    await assert.rejects(answer.done, { code: 'model_error', message: /before the answer was complete/ });
    assert.equal(set.provider.calls.length, 1);

    const silent = set.ask();
    for (const cut of [true, false]) {
      const call = await set.provider.nextCall();
      // The second attempt must not contain this half of a tool call.
      await call.bytes(
        wire(api, { parts: [{ kind: 'calls', calls: [['c', 'half', '{"a"']] }], end: 'none' }).slice(
          0,
          cut ? 700 : 300,
        ),
      );
      if (cut) call.cut();
      else call.end();
    }
    await (await set.provider.nextCall()).stream(wire(api, hello));
    assert.deepEqual((await silent.done).usage, USAGE);
    assert.deepEqual([silent.output.all('text'), silent.output.calls], ['Hello', []]);
  });

  test(`${api}: retries a busy provider after Retry-After, at most three attempts`, async () => {
    await using set = await setUp(api);
    const tries = { count: 1 };
    const { output, done } = set.ask({ tries });
    (await set.provider.nextCall()).answer(429, { error: { message: 'Slow down' } }, { 'retry-after': '0' });
    (await set.provider.nextCall()).answer(503, 'busy', { 'retry-after-ms': '1' });
    await (await set.provider.nextCall()).stream(wire(api, hello));
    await done;
    assert.deepEqual([output.all('text'), tries.count], ['Hello', 3]);
    const refused = set.ask();
    for (let i = 0; i < 3; i += 1) {
      (await set.provider.nextCall()).answer(529, { error: { message: 'Over.' } }, { 'retry-after': '0' });
    }
    await assert.rejects(refused.done, {
      code: 'model_error',
      message: /overloaded \(529\): Over; try again later\.$/,
    });
    const tooLong = set.ask();
    (await set.provider.nextCall()).answer(429, {}, { 'retry-after': '3600' });
    await assert.rejects(tooLong.done, { message: /\(429\)/ });
    assert.equal(set.provider.calls.length, 7);
  });

  test(`${api}: retries only when a call is allowed`, async () => {
    await using set = await setUp(api);
    const asked = Promise.withResolvers<void>();
    const may = Promise.withResolvers<void>();
    let times = 0;
    const mayCall = () => {
      times += 1;
      if (times !== 2) return null;
      // This is between two attempts.
      asked.resolve();
      return may.promise;
    };
    const { done } = set.ask({ mayCall });
    (await set.provider.nextCall()).answer(503, 'busy', { 'retry-after-ms': '1' });
    await asked.promise;
    const again = set.provider.nextCall();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(set.provider.calls.length, 1);
    may.resolve();
    await (await again).stream(wire(api, hello));
    await done;
  });

  test(`${api}: sends nothing if the call is not allowed any more after connecting`, async () => {
    await using set = await setUp(api);
    const asked = Promise.withResolvers<void>();
    const may = Promise.withResolvers<void>();
    let times = 0;
    const mayCall = () => {
      times += 1;
      asked.resolve();
      return times === 1 ? may.promise : null;
    };
    const { done } = set.ask({ mayCall });
    await asked.promise;
    const call = set.provider.nextCall();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(set.provider.calls.length, 0);
    may.resolve();
    await (await call).stream(wire(api, hello));
    await done;
    assert.deepEqual([times, set.provider.calls.length], [2, 1]);
  });

  test(`${api}: does not retry a permanent failure, and no sentence contains the key`, async () => {
    await using set = await setUp(api);
    const leak = { error: { message: `Incorrect API key provided: ${KEY}, Bearer ${KEY}.\nSee\u0007 the docs.` } };
    const quota = { error: { message: 'Pay.', code: 'insufficient_quota' } };
    const name = getProvider(api).toUpperCase();
    for (const [status, body, sentence] of [
      [400, leak, /refused the request \(400\): Incorrect API key provided: \*\*\*/],
      [401, leak, new RegExp(`check ${name}_API_KEY`)],
      [403, leak, /does not allow this key to use `m`/],
      [
        404,
        leak,
        api === 'responses'
          ? /check the name of the model.* set RUNWIRE_OPENAI_API=chat\.$/
          : /does not have `m` \(404\); check the name of the model and \w+\.$/,
      ],
      [429, quota, /plan and billing/],
      [307, leak, new RegExp(`check ${name}_BASE_URL`)],
      [400, 'x'.repeat(200_000), /refused the request \(400\)\.$/],
    ] as const) {
      const { done } = set.ask();
      (await set.provider.nextCall()).answer(status, body);
      await assert.rejects(done, (error: Error) => {
        assert.match(error.message, sentence);
        assert.ok(!`${error.message}${error.stack}`.includes(KEY));
        assert.match(error.message, /^[^\n\u0007]{1,420}\.$/);
        return true;
      });
    }
    assert.equal(set.provider.calls.length, 7);
  });

  test(`${api}: silence before or after the first byte is model_timeout and closes the connection`, async () => {
    await using set = await setUp(api, { silenceMs: 300 });
    for (const start of ['', ': comment\n\n', wire(api, { ...hello, end: 'none' })]) {
      const { done } = set.ask();
      const call = await set.provider.nextCall();
      if (start !== '') await call.bytes(start);
      await assert.rejects(done, { code: 'model_timeout', message: /silent for 0\.3 s;/ });
      assert.equal(await call.closed, false);
    }
    assert.equal(set.provider.calls.length, 3);
  });

  test(`${api}: garbage is a failure with a sentence, never a fault of the server`, async () => {
    await using set = await setUp(api);
    for (const bytes of [
      'data: {"broken\n\n',
      'data: [1]\n\n',
      'data: null\n\n',
      sseText(providerEvents(api === 'chat' ? 'responses' : 'chat', hello)),
      ...GARBAGE[api],
      '<html>This is no stream.</html>',
      '',
    ]) {
      const { done } = set.ask();
      await (await set.provider.nextCall()).stream(bytes);
      await assert.rejects(
        done,
        { name: 'ModelFailure', code: 'model_error', message: /check (OPENAI|ANTHROPIC)_BASE_URL/ },
        bytes,
      );
    }
  });

  test(`${api}: ignores impossible usage numbers`, async () => {
    await using set = await setUp(api);
    const [input, output, cached, honestInput] = USAGE_NAMES[api];
    for (const lie of [-1, '20', null, 1.5, 1e12, {}]) {
      const { done } = set.ask();
      const honest = wire(api, hello);
      const text = honest.replaceAll(`"${input}":${honestInput}`, `"${input}":${JSON.stringify(lie)}`);
      assert.notEqual(text, honest);
      await (await set.provider.nextCall()).stream(text);
      assert.equal((await done).usage, null, JSON.stringify(lie));
    }
    const { done } = set.ask();
    const more = wire(api, hello).replaceAll(`"${cached}":8`, `"${cached}":800`);
    await (await set.provider.nextCall()).stream(more.replaceAll(`"${output}":9`, `"${output}":0`));
    // In Messages, the cache's tokens are not part of the other input.
    const inputs = api === 'messages' ? { inputTokens: 812, cachedTokens: 800 } : { cachedTokens: 20 };
    assert.deepEqual((await done).usage, { ...USAGE, ...inputs, outputTokens: 0, reasoningTokens: 0 });
  });

  test(`${api}: an open connection after the last event does not delay the answer`, async () => {
    await using set = await setUp(api);
    const { output, done } = set.ask();
    const call = await set.provider.nextCall();
    await call.bytes(wire(api, hello) + wire(api, hello));
    await done;
    assert.equal(output.all('text'), 'Hello');
    assert.equal(await call.closed, false);
  });

  test(`${api}: sends the key if one is set, and names an unreachable provider`, async () => {
    await using set = await setUp(api);
    const { done } = set.ask();
    const call = await set.provider.nextCall();
    await call.stream(wire(api, hello));
    await done;
    const getKey = ({ headers }: ProviderCall) => headers[api === 'messages' ? 'x-api-key' : 'authorization'];
    assert.equal(getKey(call), api === 'messages' ? KEY : `Bearer ${KEY}`);
    await using keyless = await setUp(api, { apiKey: null });
    const second = keyless.ask();
    const seen = await keyless.provider.nextCall();
    seen.answer(401, {});
    await assert.rejects(second.done, { message: /requires an API key \(401\); set (OPENAI|ANTHROPIC)_API_KEY/ });
    assert.equal(getKey(seen), undefined);
    await keyless.provider[Symbol.asyncDispose]();
    await assert.rejects(keyless.ask().done, {
      code: 'model_error',
      message: /cannot be reached: ECONNREFUSED; check/,
    });
  });
}

const WITH_TOOLS: Partial<ModelRequest> = {
  prompt: [
    { kind: 'user', text: 'What time is it?' },
    { kind: 'assistant', text: 'Let me look.' },
    { kind: 'tool_call', callId: 'a', name: 'clock', arguments: '{}' },
    { kind: 'tool_call', callId: 'b', name: 'clock', arguments: '{"zone":1}' },
    { kind: 'tool_output', callId: 'a', output: '12:00' },
    { kind: 'tool_output', callId: 'b', output: '13:00' },
  ],
  tools: [{ name: 'clock', description: 'The time.', inputSchema: { type: 'object' } }],
};

test('responses: the request as the protocol wants it', async () => {
  await using set = await setUp('responses');
  set.ask(WITH_TOOLS);
  const { path, body } = await set.provider.nextCall();
  assert.equal(path, '/v1/responses');
  assert.deepEqual(body, {
    model: 'm',
    instructions: 'Be brief.',
    input: [
      { role: 'user', content: 'What time is it?' },
      { role: 'assistant', content: 'Let me look.' },
      { type: 'function_call', call_id: 'a', name: 'clock', arguments: '{}' },
      { type: 'function_call', call_id: 'b', name: 'clock', arguments: '{"zone":1}' },
      { type: 'function_call_output', call_id: 'a', output: '12:00' },
      { type: 'function_call_output', call_id: 'b', output: '13:00' },
    ],
    tools: [
      { type: 'function', name: 'clock', description: 'The time.', parameters: { type: 'object' }, strict: false },
    ],
    stream: true,
    store: false,
  });
});

for (const protocol of ['responses', 'chat'] as const) {
  test(`${protocol}: announces each file once, after the text of its message`, async () => {
    await using set = await setUp(protocol);
    const report = { name: 'a b.csv', path: '/app/mnt/u/a b.csv' };
    const notes = { name: 'n.txt', path: '/app/mnt/n.txt' };
    set.ask({
      prompt: [
        { kind: 'user', text: 'Look', sandboxFiles: [report, notes, report] },
        { kind: 'user', text: '', sandboxFiles: [notes] },
      ],
    });
    const { body } = await set.provider.nextCall();
    const { input, messages } = body as { input?: { content: string }[]; messages?: { content: string }[] };
    const contents = (input ?? messages?.slice(1) ?? []).map(({ content }) => content);
    assert.deepEqual(contents, [
      'Look\n\nFiles that came with this message, by name and path:\n- a b.csv: /app/mnt/u/a b.csv\n- n.txt: /app/mnt/n.txt',
      'Files that came with this message, by name and path:\n- n.txt: /app/mnt/n.txt',
    ]);
  });
}

test('chat: the request as the protocol wants it', async () => {
  await using set = await setUp('chat');
  set.ask(WITH_TOOLS);
  const { path, body } = await set.provider.nextCall();
  assert.equal(path, '/v1/chat/completions');
  const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'clock', arguments: args } });
  assert.deepEqual(body, {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What time is it?' },
      { role: 'assistant', content: 'Let me look.', tool_calls: [call('a', '{}'), call('b', '{"zone":1}')] },
      { role: 'tool', tool_call_id: 'a', content: '12:00' },
      { role: 'tool', tool_call_id: 'b', content: '13:00' },
    ],
    tools: [
      { type: 'function', function: { name: 'clock', description: 'The time.', parameters: { type: 'object' } } },
    ],
    stream: true,
    stream_options: { include_usage: true },
  });
});

test('chat: separates calls with the same index by id; missing ids are made', async () => {
  await using set = await setUp('chat');
  const { output, done } = set.ask();
  const chunk = (calls: unknown[]) => ({ choices: [{ index: 0, delta: { tool_calls: calls } }] });
  const call = (id: string, name: string) => ({ index: 0, id, function: { name, arguments: '{}' } });
  const end = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
  await (await set.provider.nextCall()).stream(
    sseText([chunk([call('x', 'one')]), chunk([call('y', 'two')]), chunk([{ ...call('', 'three'), index: 1 }]), end]),
  );
  await done;
  assert.deepEqual(
    output.calls.map(([, name, args]) => [name, args]),
    [
      ['one', '{}'],
      ['two', '{}'],
      ['three', '{}'],
    ],
  );
  assert.match(output.calls[2]?.[0] ?? '', /^call_/);
});

test('responses: takes the text at the end if a server sends no deltas', async () => {
  await using set = await setUp('responses');
  const events = providerEvents('responses', {
    ...hello,
    parts: [...hello.parts, { kind: 'calls', calls: [['c', 'f', '{}']] }],
  });
  const has = (event: unknown, ...parts: string[]) =>
    parts.some((part) => JSON.stringify(event).includes(`"type":"response.${part}`));
  for (const dropped of [['output_text.delta'], ['output_text', 'content_part', 'output_item', 'function_call']]) {
    const { output, done } = set.ask();
    await (await set.provider.nextCall()).stream(sseText(events.filter((event) => !has(event, ...dropped))));
    await done;
    assert.deepEqual([output.all('text'), output.calls], ['Hello', [['c', 'f', '{}']]]);
  }
});
