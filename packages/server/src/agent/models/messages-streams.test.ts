import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { type ReadMessage, readByAnthropicClient, show } from '@runwire/test-kit/anthropic-client.ts';
import type { Listener } from '@runwire/test-kit/model-conformance.ts';
import { KEY, setUp } from '@runwire/test-kit/provider-rig.ts';
import { sseText } from '@runwire/test-kit/provider-streams.ts';
import { RunFailure } from '../../domain/run-failure.ts';
import type { ModelResult } from '../ports.ts';

type Event = Readonly<Record<string, unknown>>;

const STREAMS = Object.entries(
  JSON.parse(
    readFileSync(new URL('../../../../../proofs/data/messages-streams.json', import.meta.url), 'utf8'),
  ) as Readonly<Record<string, readonly Event[]>>,
);

/** The stop reasons of answers that are failures, by the sentences that tell them. */
const FAILED = {
  max_tokens: /reached its token limit/,
  refusal: /refused to answer/,
  model_context_window_exceeded: /context window/,
};
const COMPLETE = ['end_turn', 'tool_use', 'stop_sequence'];

async function readByUs(output: Listener, done: Promise<ModelResult>): Promise<ReadMessage> {
  const read: ReadMessage = { shown: [], thinking: [], usage: null, stop: 'complete' };
  const result = await done.catch((error: Error) => {
    if (!(error instanceof RunFailure)) throw error;
    read.stop = Object.entries(FAILED).find(([, sentence]) => sentence.test(error.message))?.[0] ?? 'error';
    return null;
  });
  for (const [kind, ...texts] of output.heard) {
    if (kind === 'call') read.shown.push(['call', texts[0] ?? '', texts[1] ?? '', texts[2] ?? '']);
    else show(read.shown, kind === 'reasoning' ? 'thinking' : kind, texts[0] ?? '');
  }
  const body = (output.replays[0]?.body ?? []) as readonly Record<string, string>[];
  for (const { type, thinking = '', signature = '', data = '' } of body) {
    if (type === 'thinking') read.thinking.push([thinking, signature]);
    if (type === 'redacted_thinking') read.thinking.push([data]);
  }
  const usage = result?.usage ?? output.reported;
  if (usage) read.usage = [usage.inputTokens, usage.cachedTokens, usage.outputTokens, usage.reasoningTokens];
  return read;
}

/** Arguments that the model wrote in another form mean the same. Those of a failed answer count for nothing. */
function comparable({ shown, thinking, usage, stop }: ReadMessage, isReplayed: boolean) {
  const isWhole = COMPLETE.includes(stop) || stop === 'complete';
  const counted = shown.filter(([kind]) => isWhole || kind !== 'call');
  const parts = counted.map(([kind = '', ...texts]) =>
    kind === 'call' ? [kind, texts[0], texts[1], JSON.parse(texts[2] ?? '')] : [kind, ...texts],
  );
  return {
    shown: parts,
    thinking: isReplayed ? thinking : [],
    usage,
    stop: isWhole ? 'complete' : stop,
  };
}

test('there are at least 45 streams of the Messages protocol', () => {
  assert.ok(STREAMS.length >= 45);
});

for (const [name, events] of STREAMS) {
  test(`messages: both clients read the same: ${name}`, async () => {
    await using set = await setUp('messages');
    const bytes = Buffer.from(sseText(events));
    set.provider.onCall = (call) => void call.stream(bytes);
    const baseURL = set.provider.baseUrl.replace(/\/v1$/, '');
    const client = new Anthropic({ baseURL, apiKey: KEY, maxRetries: 0, logLevel: 'off' });
    const theirs = await readByAnthropicClient(client);
    const { output, done } = set.ask();
    const ours = await readByUs(output, done);
    // Nothing is sent back of a failed answer, or of one with parts that this adapter does not know.
    const isReplayed = output.replays.length > 0;
    assert.equal(
      isReplayed,
      ours.stop === 'complete' && theirs.thinking.length > 0 && !name.startsWith('delta of another'),
    );
    assert.deepEqual(comparable(ours, isReplayed), comparable(theirs, isReplayed));
  });
}

test('messages: reads the same if the bytes are cut anywhere', async () => {
  await using set = await setUp('messages');
  const read = async (bytes: Buffer, cuts: readonly number[]) => {
    set.provider.onCall = (call) => void call.pieces(bytes, cuts).then(() => call.end());
    const { output, done } = set.ask();
    return readByUs(output, done);
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
