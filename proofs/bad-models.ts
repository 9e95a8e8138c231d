import { type ApiClient, FakeProvider, type Protocol } from '@runwire/test-kit';
import { type BadProvider, badProviders, bytesOf, misbehave, SILENCE_MS } from '@runwire/test-kit/bad-providers.ts';
import { PLANTED_KEY } from '@runwire/test-kit/fake-provider.ts';
import { OPENAI_PROTOCOLS } from '@runwire/test-kit/provider-rig.ts';
import { expectEqual, Shortfall, within } from '@runwire/test-kit/shortfall.ts';
import { named, type Proof } from './support/proof.ts';
import { Rig } from './support/rig.ts';

/** One run against one bad provider: its calls, its end, its charge, and the next turn of its chat. */
async function endsAsPromised(api: ApiClient, provider: FakeProvider, bad: BadProvider, protocol: Protocol) {
  const id = `${protocol} ${bad.name}`;
  const before = provider.calls.length;
  provider.onCall = (call) => {
    const nth = Math.min(provider.calls.length - before, bad.plays.length) - 1;
    void misbehave(call, protocol, bad.plays[nth] ?? ['hang']);
  };
  const reader = await api.complete({ usageRequestId: id, chatId: id, message: 'Hello' });
  expectEqual('the stream came whole', await within('end of its stream', 20_000, reader.over), true);
  expectEqual('calls of the provider', provider.calls.length - before, bad.calls);
  expectEqual('answer', reader.answer, bad.answer);
  const [error, messages, end] = reader.frames.slice(-3);
  const ending = JSON.parse(messages?.data ?? '{}');
  const status = bad.end === 'completed' ? 'completed' : 'failed';
  expectEqual('end', [messages?.event, ending.status, end?.event], ['messages', status, 'end']);
  if (bad.end !== 'completed') {
    const { code, error: sentence } = JSON.parse(error?.data ?? '{}');
    expectEqual('error', [error?.event, code, ending.error], [null, bad.end, { code: bad.end, message: sentence }]);
    const isClear = new RegExp(bad.sentence ?? '').test(sentence);
    if (!isClear) throw new Shortfall(`sentence: expected /${bad.sentence}/, found ${sentence}.`);
  }
  expectEqual('the key is in the stream', reader.text.includes(PLANTED_KEY), false);

  const query = `usageRequestId=${encodeURIComponent(id)}`;
  const { items } = (await api.get(`/v2/integrations/demo/usage?${query}`)).body;
  const records = items.map((record: typeof ending) => [record.status, record.usage, record.completedAt !== null]);
  expectEqual('usage records', records, [[status, ending.usage, true]]);
  for (const [name, tokens] of Object.entries<number>(ending.usage)) {
    expectEqual(`${name} is a count`, Number.isSafeInteger(tokens) && tokens >= 0, true);
  }
  const shown = bad.neverBegan === true ? 0 : Math.ceil(shownBytes(provider) / 4);
  const said = Math.ceil((bad.answer.length + (bad.argumentsBytes ?? 0)) / 4);
  expectEqual('tokens', [ending.usage.input_tokens, ending.usage.output_tokens], bad.tokens ?? [shown, said]);
  const { body: chat } = await api.get(`/v2/integrations/demo/chat_status?${query}`);
  expectEqual('chat', [chat.status, chat.activeRunId, chat.run.status], ['idle', null, status]);

  provider.onCall = (call) => void call.stream(bytesOf(protocol, 'whole'));
  const next = await api.complete({ chatId: id, message: 'And now?' });
  await within('end of the next turn', 20_000, next.over);
  expectEqual('answer of the next turn', next.answer, 'Good day');
}

/** How many bytes of text the provider was shown last. */
function shownBytes(provider: FakeProvider): number {
  const { body } = provider.calls.at(-1) ?? {};
  const items: { content: string }[] = body.messages ?? [{ content: body.instructions }, ...body.input];
  return items.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
}

export const proof: Proof = {
  name: 'bad-models',
  minutes: 0.7,
  faults: {
    'endless-patience': /^responses, a provider that hangs before its first byte: end of its stream: expected within/m,
  },
  figures: () => ({ bad_providers: 34, runs: 68 }),
  async run({ fault }) {
    for (const protocol of OPENAI_PROTOCOLS) {
      await using provider = await FakeProvider.start();
      const limits = { modelSilenceMs: SILENCE_MS };
      await using rig = await Rig.start({ fault, env: provider.env(protocol), limits, scripted: false });
      for (const bad of badProviders) {
        const ended = endsAsPromised(rig.api(), provider, bad, protocol);
        await named(`${protocol}, a provider that ${bad.name}`, ended);
      }
    }
    const runs = badProviders.length * OPENAI_PROTOCOLS.length;
    return { bad_providers: badProviders.length, protocols: OPENAI_PROTOCOLS.length, runs, settled: runs };
  },
};
