import { test } from 'node:test';
import { type ApiClient, FakeProvider, Rig } from '@runwire/test-kit';
import { type BadProvider, badProviders, misbehave, SILENCE_MS, toBytes } from '@runwire/test-kit/bad-providers.ts';
import { PLANTED_KEY } from '@runwire/test-kit/fake-provider.ts';
import { count, plantedFault } from '@runwire/test-kit/scale.ts';
import { expectEqual, named, Shortfall, within } from '@runwire/test-kit/shortfall.ts';
import { ADAPTERS, type AdapterUnderTest } from './support/adapters-under-test.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';

/** One run against one bad provider: its calls, its end, its charge, and its chat's next turn. */
async function endsAsPromised(api: ApiClient, provider: FakeProvider, bad: BadProvider, adapter: AdapterUnderTest) {
  const { name, protocol, settings, seesHead, reportsStart } = adapter;
  const id = `${name} ${bad.name}`;
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
    const pattern = (bad.sentence ?? '').replaceAll(/\{([A-Z_]+)\}/g, (_, setting) => settings[setting as 'KEY']);
    if (!new RegExp(pattern).test(sentence)) throw new Shortfall(`sentence: expected /${pattern}/, found ${sentence}.`);
  }
  expectEqual('the key is in the stream', reader.text.includes(PLANTED_KEY), false);

  const query = `usageRequestId=${encodeURIComponent(id)}`;
  const { items } = (await api.get(`/v2/integrations/demo/usage?${query}`)).body;
  const records = items.map((record: typeof ending) => [record.status, record.usage, record.completedAt !== null]);
  expectEqual('usage records', records, [[status, ending.usage, true]]);
  for (const [counter, tokens] of Object.entries<number>(ending.usage)) {
    expectEqual(`${counter} is a count`, Number.isSafeInteger(tokens) && tokens >= 0, true);
  }
  const hasBegun = bad.neverBegan !== true && (seesHead || bad.onlyHead !== true);
  const estimated = !hasBegun ? 0 : Math.ceil(shownBytes(provider) / 4);
  const started = reportsStart ? (bad.startTokens ?? 0) : 0;
  const shown = started > 0 ? started * bad.calls : estimated;
  const said = Math.ceil((bad.answer.length + (bad.argumentsBytes ?? 0)) / 4);
  const [input, output] = bad.tokens ?? [shown, said];
  const earlier = bad.tokens === undefined ? 0 : started * (bad.calls - 1);
  expectEqual('tokens', [ending.usage.input_tokens, ending.usage.output_tokens], [input + earlier, output]);
  const { body: chat } = await api.get(`/v2/integrations/demo/chat_status?${query}`);
  expectEqual('chat', [chat.status, chat.activeRunId, chat.run.status], ['idle', null, status]);

  provider.onCall = (call) => void call.stream(toBytes(protocol, 'whole'));
  const next = await api.complete({ chatId: id, message: 'And now?' });
  await within('end of the next turn', 20_000, next.over);
  expectEqual('answer of the next turn', next.answer, 'Good day');
}

/** How many bytes of text the provider was shown last. */
function shownBytes(provider: FakeProvider): number {
  const { body } = provider.calls.at(-1) ?? {};
  const items: { content: string | { text: string }[] }[] = body.messages ?? body.input;
  const system = typeof body.system === 'string' ? body.system : (body.system?.[0]?.text ?? body.instructions ?? '');
  const texts = items.flatMap(({ content }) =>
    typeof content === 'string' ? [content] : content.map((one) => one.text),
  );
  return [system, ...texts].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

test('a bad provider ends the run with a sentence that helps', async () => {
  const fault = plantedFault();
  for (const adapter of ADAPTERS) {
    await using provider = await FakeProvider.start();
    using folder = new AgenciesFolder();
    const limits = { modelSilenceMs: SILENCE_MS };
    await using rig = await Rig.start({ fault, env: adapter.env(provider, folder), limits, scripted: false });
    for (const { aiSdk, ...plain } of badProviders) {
      const bad = adapter.name === 'AI SDK' ? { ...plain, ...aiSdk } : plain;
      const ended = endsAsPromised(rig.api(), provider, bad, adapter);
      await named(`${adapter.name}, a provider that ${bad.name}`, ended);
    }
  }
  const runs = badProviders.length * ADAPTERS.length;
  count({ bad_providers: badProviders.length, adapters: ADAPTERS.length, runs, settled: runs });
});
