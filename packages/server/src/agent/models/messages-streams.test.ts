import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { readByAnthropicClient } from '@runwire/test-kit/anthropic-client.ts';
import { Listener, modelRequest } from '@runwire/test-kit/model-conformance.ts';
import { KEY, setUp } from '@runwire/test-kit/provider-rig.ts';
import { sseText } from '@runwire/test-kit/provider-streams.ts';
import { comparable, readByModel } from '@runwire/test-kit/read-message.ts';
import { aiSdkModel, isAiSdkModel } from './ai-sdk-model.ts';

type Event = Readonly<Record<string, unknown>>;

const STREAMS = Object.entries(
  JSON.parse(
    readFileSync(new URL('../../../../../proofs/data/messages-streams.json', import.meta.url), 'utf8'),
  ) as Readonly<Record<string, readonly Event[]>>,
);

/** Streams that `@ai-sdk/anthropic` reads differently from the provider's own client, with the difference. */
const NOT_IN_AI_SDK: ReadonlyMap<string, string> = new Map([
  ['text in the start of the block', 'it leaves out this text'],
  ['signature and text at the start', 'it leaves out both'],
  ['unknown events', 'it ends with an error'],
  ['unknown block', 'it ends with an error'],
  ['unknown delta', 'it ends with an error'],
  ['delta of another kind', 'it takes the delta'],
  ['delta of a block that did not start', 'it takes the delta'],
  ['end before the last event', 'it reports no usage'],
  ['call without a stop', 'it leaves out the call'],
]);

test('there are at least 45 streams of the Messages protocol', () => {
  assert.ok(STREAMS.length >= 45);
});

for (const [name, events] of STREAMS) {
  test(`messages: all clients read the same: ${name}`, async () => {
    await using set = await setUp('messages');
    const bytes = Buffer.from(sseText(events));
    set.provider.onCall = (call) => void call.stream(bytes);
    const baseURL = set.provider.baseUrl;
    const client = new Anthropic({
      baseURL: baseURL.replace(/\/v1$/, ''),
      apiKey: KEY,
      maxRetries: 0,
      logLevel: 'off',
    });
    const theirs = await readByAnthropicClient(client);
    const { output, done } = set.ask();
    const ours = await readByModel(output, done);
    // Nothing is sent back of a failed answer, or of one with parts that this adapter does not know.
    const isReplayed = output.replays.length > 0;
    const isKnown = !name.startsWith('delta of another');
    assert.equal(isReplayed, ours.stop === 'complete' && theirs.thinking.length > 0 && isKnown);
    assert.deepEqual(comparable(ours, isReplayed), comparable(theirs, isReplayed));

    const model = createAnthropic({ baseURL, apiKey: KEY })('m');
    assert.ok(isAiSdkModel(model));
    const listener = new Listener();
    const call = aiSdkModel('ai/m', model).call(modelRequest('Hi'), listener, new AbortController().signal);
    const bySdk = comparable(await readByModel(listener, call), isReplayed);
    const compare = NOT_IN_AI_SDK.has(name) ? assert.notDeepEqual : assert.deepEqual;
    compare(bySdk, comparable(ours, isReplayed));
  });
}

test('messages: reads the same if the bytes are cut anywhere', async () => {
  await using set = await setUp('messages');
  const read = async (bytes: Buffer, cuts: readonly number[]) => {
    set.provider.onCall = (call) => void call.pieces(bytes, cuts).then(() => call.end());
    const { output, done } = set.ask();
    return readByModel(output, done);
  };
  for (const [name, events] of STREAMS) {
    if (!['multi-byte text', 'interleaved thinking', 'one call in pieces'].includes(name)) continue;
    const bytes = Buffer.from(sseText(events));
    const whole = await read(bytes, []);
    const all = Array.from({ length: bytes.length - 1 }, (_, i) => i + 1);
    assert.deepEqual(await read(bytes, all), whole, name);
    for (let at = 0; at < 5; at += 1) {
      const cuts = all.filter((place) => place % 5 === at || (bytes[place] ?? 0) >= 0x80);
      assert.deepEqual(await read(bytes, cuts), whole, `${name}, ${at}`);
    }
  }
});
