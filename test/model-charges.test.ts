import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import {
  FakeProvider,
  type Protocol,
  providerEvents,
  type StreamScript,
  sseText,
  startTestServer,
} from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';

const PROTOCOLS: readonly Protocol[] = ['responses', 'chat'];
const MESSAGE = 'm'.repeat(40);

async function setUp(api: Protocol) {
  const provider = await FakeProvider.start();
  const env = {
    OPENAI_API_KEY: 'sk-1',
    OPENAI_BASE_URL: provider.baseUrl,
    RUNWIRE_MODEL: 'openai/m',
    RUNWIRE_OPENAI_API: api,
  };
  const server = await startTestServer({ env });
  const dispose = async () => {
    await server[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  };
  const hold = async () => {
    const reader = await server.api.complete({ message: MESSAGE });
    const call = await provider.nextCall();
    const { body } = call;
    const instructions: string = body.instructions ?? body.messages[0].content;
    const shown = Math.ceil((Buffer.byteLength(instructions) + MESSAGE.length) / 4);
    const runPath = `/v2/integrations/demo/runs/${reader.headers['x-run-id']}`;
    const ended = async () => {
      await reader.whole();
      const { status, usage } = (await server.api.get(runPath)).body;
      return [status, usage.request_count, usage.input_tokens, usage.output_tokens];
    };
    return { reader, call, shown, ended, cancel: () => server.api.post(`${runPath}/cancel`) };
  };
  const events = (script: StreamScript) => providerEvents(api, script);
  return { hold, events, provider, [Symbol.asyncDispose]: dispose };
}

for (const protocol of PROTOCOLS) {
  test(`${protocol}: the prompt is charged once the provider begins to answer`, async (t) => {
    cites(t, 'contract-6-charged-cut-step');
    await using set = await setUp(protocol);
    const refused = await set.hold();
    refused.call.answer(401, {});
    assert.deepEqual(await refused.ended(), ['failed', 1, 0, 0]);

    const unanswered = await set.hold();
    await unanswered.cancel();
    assert.deepEqual(await unanswered.ended(), ['cancelled', 1, 0, 0]);

    const begun = await set.hold();
    begun.call.head();
    begun.call.end();
    assert.deepEqual(await begun.ended(), ['failed', 1, begun.shown, 0]);
  });

  test(`${protocol}: the arguments of a tool call that is under way count as said`, async (t) => {
    cites(t, 'contract-6-charged-cut-step');
    await using set = await setUp(protocol);
    const calls = [['call_1', 'clock', '{"zone":"UTC"}']] as const;
    const called = set.events({ parts: [{ kind: 'calls', calls }], end: 'none' });
    const half = called.findIndex((event) => JSON.stringify(event).includes(JSON.stringify('{"zone"')));
    const word = set.events({ parts: [{ kind: 'text', deltas: ['Hm'] }], end: 'none' });
    const { reader, call, shown, cancel, ended } = await set.hold();
    // The word follows the arguments, so a reader that has the word knows that the arguments have arrived.
    await call.bytes(sseText([...called.slice(0, half + 1), ...word.slice(1)]));
    await reader.untilText('"Hm"');
    await cancel();
    assert.deepEqual(await ended(), ['cancelled', 1, shown, Math.ceil(('{"zone"'.length + 'Hm'.length) / 4)]);
  });
}

test('usage that a provider reports before a retry is charged too', async (t) => {
  cites(t, 'contract-6-charged-cut-step');
  await using set = await setUp('responses');
  const failed = (input_tokens: number, output_tokens: number) => {
    const usage = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
    const error = { code: 'server_error', message: 'Oops.' };
    return sseText([{ type: 'response.failed', response: { status: 'failed', error, usage } }]);
  };
  const usage = { requestCount: 1, inputTokens: 100, cachedTokens: 0, outputTokens: 10, reasoningTokens: 0 };
  const whole = sseText(set.events({ parts: [{ kind: 'text', deltas: ['Hello'] }], usage }));
  const retried = await set.hold();
  await retried.call.stream(failed(7, 1));
  await (await set.provider.nextCall()).stream(failed(8, 2));
  await (await set.provider.nextCall()).stream(whole);
  assert.deepEqual(await retried.ended(), ['completed', 3, 115, 13]);

  const gaveUp = await set.hold();
  await gaveUp.call.stream(failed(7, 1));
  await (await set.provider.nextCall()).stream(failed(8, 2));
  await (await set.provider.nextCall()).stream(failed(9, 3));
  assert.deepEqual(await gaveUp.ended(), ['failed', 3, 24, 6]);

  const unreported = await set.hold();
  await unreported.call.stream(failed(7, 1));
  await (await set.provider.nextCall()).stream(sseText(set.events({ parts: [{ kind: 'text', deltas: ['Word'] }] })));
  assert.deepEqual(await unreported.ended(), ['completed', 2, 7 + unreported.shown, 1 + 1]);
});

const UNITS = ['runs', 'tokens', 'credits'] as const;
const MEMBER = '/v2/integrations/metered/members/ann';

/** A server with an integration whose member `ann` is metered, and the provider at this address. */
async function meteredServer(baseUrl: string) {
  const env = {
    OPENAI_API_KEY: 'sk-1',
    OPENAI_BASE_URL: baseUrl,
    RUNWIRE_MODEL: 'openai/m',
    RUNWIRE_PRICES: '{"openai/m":{"input":1000000,"cachedInput":1000000,"output":1000000}}',
  };
  const server = await startTestServer({ env });
  const { api } = server;
  const limited = (unit: string) => ({ allowances: { unit, limit: 1_000_000, period: 'lifetime' } });
  await api.post('/v2/integrations', { apiIntegrationId: 'metered', ...limited('runs') });
  await api.put(MEMBER, {});
  let requests = 0;
  const ask = async () => {
    requests += 1;
    const ids = { apiIntegrationId: 'metered', consumerId: 'ann', usageRequestId: `u${requests}` };
    const reader = await api.complete({ ...ids, message: MESSAGE });
    assert.equal(reader.status, 200);
    const runPath = `/v2/integrations/metered/runs/${reader.headers['x-run-id']}`;
    const ended = async () => {
      await reader.whole();
      return (await api.get(runPath)).body;
    };
    return { ended, cancel: () => api.post(`${runPath}/cancel`) };
  };
  /** Returns the member's usage in runs, tokens and credits. */
  const used = async () => {
    const amounts: number[] = [];
    for (const unit of UNITS) {
      await api.patch('/v2/integrations/metered', limited(unit));
      amounts.push((await api.get(MEMBER)).body.allowance.used);
    }
    return amounts;
  };
  return { ask, used, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test('a run is charged from the first call that a model accepted', async (t) => {
  cites(t, 'contract-6-charged-not-accepted', 'contract-6-accepted', 'contract-6-cancelled-before-output');
  await using provider = await FakeProvider.start();
  await using metered = await meteredServer(provider.baseUrl);
  const now = { 'retry-after-ms': '1' };
  for (const [status, tries] of [
    [401, 1],
    [429, 3],
    [500, 3],
  ] as const) {
    const refused = await metered.ask();
    for (let i = 0; i < tries; i += 1) (await provider.nextCall()).answer(status, {}, now);
    const { status: end, error } = await refused.ended();
    assert.deepEqual([end, error.code], ['failed', 'model_error'], String(status));
  }
  const unanswered = await metered.ask();
  await provider.nextCall();
  await unanswered.cancel();
  assert.equal((await unanswered.ended()).status, 'cancelled');
  assert.deepEqual(await metered.used(), [0, 0, 0]);

  const begun = await metered.ask();
  const call = await provider.nextCall();
  call.head();
  const shown = Math.ceil((Buffer.byteLength(call.body.instructions) + MESSAGE.length) / 4);
  // Provider and server share this process: the server reads the head in one of the next turns of the event loop.
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  await begun.cancel();
  assert.deepEqual((await begun.ended()).usage.total_tokens, shown);
  assert.deepEqual(await metered.used(), [1, shown, shown]);

  // A journalled first step is charged even if the second step fails.
  const usage = { requestCount: 1, inputTokens: 100, cachedTokens: 0, outputTokens: 10, reasoningTokens: 0 };
  const calls = [['call_1', 'clock', '{}']] as const;
  const twoSteps = await metered.ask();
  await (await provider.nextCall()).stream(
    sseText(providerEvents('responses', { parts: [{ kind: 'calls', calls }], usage })),
  );
  (await provider.nextCall()).answer(401, {});
  assert.equal((await twoSteps.ended()).status, 'failed');
  assert.deepEqual(await metered.used(), [2, shown + 110, shown + 110]);

  // An answer that is not a stream is an acceptance too.
  const accepted = await metered.ask();
  (await provider.nextCall()).answer(202, {});
  assert.equal((await accepted.ended()).status, 'failed');
  assert.deepEqual(await metered.used(), [3, 2 * shown + 110, 2 * shown + 110]);

  await provider[Symbol.asyncDispose]();
  const gone = await metered.ask();
  assert.deepEqual((await gone.ended()).error.code, 'model_error');
  assert.equal((await metered.used())[0], 3, 'a refused connection costs nothing');
});

test('a provider that cannot be reached costs nothing', async (t) => {
  cites(t, 'contract-6-charged-not-accepted');
  {
    await using unknown = await meteredServer('http://model.invalid/v1');
    assert.equal((await (await unknown.ask()).ended()).error.code, 'model_error');
    assert.deepEqual(await unknown.used(), [0, 0, 0]);
  }
  const connected = Promise.withResolvers<void>();
  const silent = createServer(() => connected.resolve());
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  try {
    const { port } = silent.address() as AddressInfo;
    await using metered = await meteredServer(`https://127.0.0.1:${port}/v1`);
    const connecting = await metered.ask();
    // From now on the client waits for the TLS handshake.
    await connected.promise;
    await connecting.cancel();
    assert.equal((await connecting.ended()).status, 'cancelled');
    assert.deepEqual(await metered.used(), [0, 0, 0]);
  } finally {
    silent.close();
  }
});
