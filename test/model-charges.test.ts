import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FakeProvider,
  type Protocol,
  providerEvents,
  type StreamScript,
  sseText,
  startTestServer,
} from '@runwire/server/testing';
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
  test(`${protocol}: what the model was shown counts once its provider has begun to answer`, async (t) => {
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
    const called = set.events({ said: [{ kind: 'calls', calls }], end: 'none' });
    const half = called.findIndex((event) => JSON.stringify(event).includes(JSON.stringify('{"zone"')));
    const word = set.events({ said: [{ kind: 'text', deltas: ['Hm'] }], end: 'none' });
    const { reader, call, shown, cancel, ended } = await set.hold();
    // The word comes behind the arguments: whoever sees it knows that they have come.
    await call.bytes(sseText([...called.slice(0, half + 1), ...word.slice(1)]));
    await reader.untilText('"Hm"');
    await cancel();
    assert.deepEqual(await ended(), ['cancelled', 1, shown, Math.ceil(('{"zone"'.length + 'Hm'.length) / 4)]);
  });
}

test('what a provider reports with an answer that it then gives anew is charged too', async (t) => {
  cites(t, 'contract-6-charged-cut-step');
  await using set = await setUp('responses');
  const failed = (input_tokens: number, output_tokens: number) => {
    const usage = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
    const error = { code: 'server_error', message: 'Oops.' };
    return sseText([{ type: 'response.failed', response: { status: 'failed', error, usage } }]);
  };
  const usage = { requestCount: 1, inputTokens: 100, cachedTokens: 0, outputTokens: 10, reasoningTokens: 0 };
  const whole = sseText(set.events({ said: [{ kind: 'text', deltas: ['Hello'] }], usage }));
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
  await (await set.provider.nextCall()).stream(sseText(set.events({ said: [{ kind: 'text', deltas: ['Word'] }] })));
  assert.deepEqual(await unreported.ended(), ['completed', 2, 7 + unreported.shown, 1 + 1]);
});
