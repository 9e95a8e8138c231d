import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { test } from 'node:test';
import { FakeProvider } from '@runwire/test-kit/fake-provider.ts';
import { hello, long, PROTOCOLS, setUp, USAGE, wire } from '@runwire/test-kit/provider-rig.ts';
import { ResponsesReader } from './openai-responses.ts';
import { ProviderTransport, type StreamCall } from './provider-transport.ts';
import { providerSettingNames } from './providers.ts';
import { Listener, modelRequest } from './testing/model-conformance.ts';
import { sseText } from './testing/provider-streams.ts';

for (const api of PROTOCOLS) {
  test(`${api}: retries an error event like a status, and only before any output`, async () => {
    await using set = await setUp(api);
    const told = (error: object) => (api === 'chat' ? sseText([{ error }]) : sseText([{ type: 'error', error }]));
    for (const error of [
      { code: 'rate_limit_exceeded', message: 'Slow down.' },
      { code: 'server_error', message: 'Oops.' },
      { code: 'server_is_overloaded', message: 'Full.' },
    ]) {
      const { output, done } = set.ask();
      await (await set.provider.nextCall()).stream(told(error));
      await (await set.provider.nextCall()).stream(wire(api, hello));
      await done;
      assert.deepEqual([output.all('text'), output.begins], ['Hello', 2], error.code);
    }
    const before = set.provider.calls.length;
    for (const [error, sentence] of [
      [{ code: 'invalid_prompt', message: 'No.' }, /reported an error: No\.$/],
      [{ code: 'insufficient_quota', type: 'rate_limit_error', message: 'Pay.' }, /check its plan and billing\.$/],
      [{ message: 'Who knows.' }, /reported an error: Who knows\.$/],
    ] as const) {
      const { done } = set.ask();
      await (await set.provider.nextCall()).stream(told(error));
      await assert.rejects(done, { code: 'model_error', message: sentence });
    }
    const answer = set.ask();
    const half = wire(api, { ...hello, end: 'none' });
    await (await set.provider.nextCall()).stream(half + told({ code: 'server_error', message: 'Oops.' }));
    await assert.rejects(answer.done, { code: 'model_error', message: /reported an error: Oops\.$/ });
    assert.equal(set.provider.calls.length - before, 4);
  });

  test(`${api}: makes three attempts if the stream always reports an overload`, async () => {
    await using set = await setUp(api);
    const { done } = set.ask();
    const error = { code: 529, type: 'overloaded_error', message: 'Over.' };
    for (let i = 0; i < 3; i += 1) {
      const told = {
        chat: { error },
        responses: { type: 'response.failed', response: { error, usage: null } },
        messages: { type: 'error', error },
      };
      await (await set.provider.nextCall()).stream(sseText([told[api]]));
    }
    await assert.rejects(done, { code: 'model_error', message: /is overloaded: Over; try again later\.$/ });
    assert.equal(set.provider.calls.length, 3);
  });

  test(`${api}: a provider is not silent while the server does not read`, async (t) => {
    // The timers are mocked, so that a slow machine causes no timeout.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const silenceMs = 10_000;
    await using set = await setUp(api, { silenceMs });
    const output = new Listener({ fillsUp: true });
    const done = set.model.call(modelRequest('Hi'), output, new AbortController().signal);
    void (await set.provider.nextCall()).stream(wire(api, long));
    await output.held;
    for (let waits = 0; waits < 3; waits += 1) t.mock.timers.tick(silenceMs);
    output.makeRoom();
    assert.deepEqual((await done).usage, USAGE);
    assert.equal(output.all('text').length, 2_000_000);
  });

  test(`${api}: no data is lost if the provider closes the connection while the server does not read`, async () => {
    await using set = await setUp(api);
    const output = new Listener({ fillsUp: true });
    const done = set.model.call(modelRequest('Hi'), output, new AbortController().signal);
    const call = await set.provider.nextCall();
    await call.bytes(wire(api, { parts: [{ kind: 'text', deltas: ['Hello'] }], end: 'none' }));
    await output.held;
    const rest = wire(api, { parts: [{ kind: 'text', deltas: [' and good', ' bye'] }], usage: USAGE });
    // A message has one start.
    await call.stream(rest.replace(/^event: message_start\n.*\n\n/, ''));
    assert.equal(await call.closed, true);
    output.makeRoom();
    await done;
    assert.equal(output.all('text'), 'Hello and good bye');
  });

  test(`${api}: reports the start at the response headers, and arguments as they arrive`, async () => {
    await using set = await setUp(api);
    const refused = set.ask();
    (await set.provider.nextCall()).answer(401, {});
    await assert.rejects(refused.done);
    assert.equal(refused.output.begins, 0);
    const { output, done } = set.ask();
    const calls = [['call_1', 'clock', '{"zone":"UTC"}']] as const;
    const whole = wire(api, { parts: [{ kind: 'calls', calls }], usage: USAGE });
    const pieces = whole.split(/(?<=\n\n)/);
    const upTo = pieces.findIndex((piece) => piece.includes(':\\"UTC')) + 1;
    const call = await set.provider.nextCall();
    assert.equal(output.begins, 0);
    await call.bytes(pieces.slice(0, upTo).join(''));
    while (output.argumentsText.length < 14) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([output.begins, output.argumentsText, output.calls], [1, '{"zone":"UTC"}', []]);
    await call.stream(pieces.slice(upTo).join(''));
    await done;
    assert.deepEqual([output.argumentsText, output.calls], ['{"zone":"UTC"}', calls]);
  });
}

test('the bytes of a request are kept for a retry, and released with the first output', async () => {
  await using provider = await FakeProvider.start();
  await using transport = new ProviderTransport({ baseUrl: provider.baseUrl, headers: {}, silenceMs: 60_000 });
  let sent: { readonly body: unknown } | null = null;
  const onCreate = (message: unknown) => {
    sent = (message as { request: { body: unknown } }).request;
  };
  subscribe('undici:request:create', onCreate);
  const target = { model: 'm', apiKey: null, settings: providerSettingNames('openai') };
  const output = new Listener();
  const call: StreamCall = {
    ...{ target, path: '/responses', signal: new AbortController().signal, output, mayCall: undefined },
    body: Buffer.from('{"input":[]}'),
    newReader: () => new ResponsesReader(target, output),
  };
  const done = transport.stream(call);
  await (await provider.nextCall()).stream(sseText([{ type: 'error', error: { code: 'server_error' } }]));
  const again = await provider.nextCall();
  assert.deepEqual(again.body, { input: [] });
  assert.ok(Buffer.isBuffer(call.body));
  const [first = '', ...rest] = wire('responses', hello).split(/(?<=delta.*\n\n)/);
  await again.bytes(first);
  while (output.all('text') === '') await new Promise(setImmediate);
  assert.equal(call.body, null);
  // undici does not keep them either.
  assert.ok(sent !== null && !Buffer.isBuffer((sent as { body: unknown }).body));
  await again.stream(rest.join(''));
  await done;
  unsubscribe('undici:request:create', onCreate);
});

for (const api of ['responses', 'chat'] as const) {
  test(`${api}: requests reasoning only as the agent defines it`, async () => {
    await using set = await setUp(api);
    for (const [reasoning, expected] of [
      [undefined, [undefined, undefined]],
      [{}, [undefined, undefined]],
      [{ effort: 'low' }, [{ effort: 'low' }, 'low']],
      [{ summary: 'auto' }, [{ summary: 'auto' }, undefined]],
      [{ effort: 'high', summary: 'detailed' }, [{ effort: 'high', summary: 'detailed' }, 'high']],
    ] as const) {
      const { done } = set.ask(reasoning === undefined ? {} : { reasoning });
      const call = await set.provider.nextCall();
      const { body } = call;
      const [asResponses, asChat] = expected;
      assert.deepEqual(
        [body.reasoning, body.reasoning_effort],
        api === 'chat' ? [undefined, asChat] : [asResponses, undefined],
      );
      await call.stream(wire(api, hello));
      await done;
    }
  });
}
