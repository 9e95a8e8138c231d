import { type ApiClient, FakeProvider, type Protocol } from '@runwire/test-kit';
import { BAD_PROVIDERS, type BadProvider, good, KEY, SILENCE_MS } from './support/bad-providers.ts';
import { DataFolder } from './support/data-folder.ts';
import { expectEqual, expectNumber, type Proof, Shortfall, within } from './support/proof.ts';
import { startServer } from './support/start-server.ts';

const WAIT_MS = 20_000;
const PROTOCOLS: readonly Protocol[] = ['responses', 'chat'];

/** One run against one bad provider; resolves once everything it left behind was looked at. */
async function endsAsPromised(api: ApiClient, provider: FakeProvider, bad: BadProvider, protocol: Protocol) {
  const what = `${protocol}, a provider that ${bad.name}`;
  const ids = { usageRequestId: `${protocol} ${bad.name}`, chatId: `${protocol} ${bad.name}` };
  const before = provider.calls.length;
  provider.onCall = (call) => {
    const nth = Math.min(provider.calls.length - before, bad.plays.length) - 1;
    void bad.plays[nth]?.(call, protocol);
  };
  const reader = await api.complete({ ...ids, message: 'Hello' });
  const whole = await within(`${what}: end of its stream`, WAIT_MS, reader.over);
  expectNumber(`${what}: streams that came whole`, Number(whole), 1);
  expectNumber(`${what}: calls of the provider`, provider.calls.length - before, bad.calls);
  expectEqual(`${what}: answer`, reader.answer, bad.answer);
  const [error, messages, end] = reader.frames.slice(-3);
  expectEqual(`${what}: last frame`, end?.event, 'end');
  const ending = JSON.parse(messages?.data ?? '{}');
  const status = bad.end === 'completed' ? 'completed' : 'failed';
  expectEqual(`${what}: status`, [ending.status, messages?.event], [status, 'messages']);
  if (bad.end !== 'completed') {
    const told = JSON.parse(error?.data ?? '{}');
    expectEqual(`${what}: code`, [told.code, error?.event, ending.error?.code], [bad.end.code, null, bad.end.code]);
    expectEqual(`${what}: error told twice alike`, told.error, ending.error?.message);
    if (!bad.end.sentence.test(told.error))
      throw new Shortfall(`${what}: expected ${bad.end.sentence}, found ${told.error}.`);
  }
  await isSettled(api, what, ids, status, ending.usage, bad, shownBytes(provider));
  if (reader.text.includes(KEY)) throw new Shortfall(`${what}: expected no key in the stream, found it.`);

  provider.onCall = (call) => void good(call, protocol);
  const next = await api.complete({ chatId: ids.chatId, message: 'And now?' });
  await within(`${what}: end of the next turn`, WAIT_MS, next.over);
  expectEqual(`${what}: answer of the next turn`, next.answer, 'Good day');
}

/** How many bytes of text the provider was shown last. */
function shownBytes(provider: FakeProvider): number {
  const { body } = provider.calls.at(-1) ?? {};
  const items: readonly { readonly content: string }[] = body.messages ?? [
    { content: body.instructions },
    ...body.input,
  ];
  return items.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
}

/** "exactly one usage record per run, whatever its end": ended, charged by what was used, and the chat idle. */
async function isSettled(
  api: ApiClient,
  what: string,
  ids: { readonly usageRequestId: string },
  status: string,
  usage: Readonly<Record<string, number>>,
  bad: BadProvider,
  shown: number,
): Promise<void> {
  const query = `usageRequestId=${encodeURIComponent(ids.usageRequestId)}`;
  const { body: records } = await api.get(`/v2/integrations/demo/usage?${query}`);
  expectNumber(`${what}: usage records`, records.items.length, 1);
  const [record] = records.items;
  expectEqual(`${what}: usage record`, [record.status, record.completedAt !== null], [status, true]);
  expectEqual(`${what}: usage of the record`, record.usage, usage);
  for (const [name, tokens] of Object.entries(usage)) {
    if (!Number.isSafeInteger(tokens) || tokens < 0)
      throw new Shortfall(`${what}: expected a count in ${name}, found ${tokens}.`);
  }
  const output = bad.tokens?.[1] ?? Math.ceil((bad.answer.length + (bad.argumentsBytes ?? 0)) / 4);
  expectEqual(`${what}: output tokens`, usage.output_tokens, output);
  const input = bad.tokens?.[0] ?? (bad.neverBegan === true ? 0 : Math.ceil(shown / 4));
  expectEqual(`${what}: input tokens`, usage.input_tokens, input);
  const { body: chat } = await api.get(`/v2/integrations/demo/chat_status?${query}`);
  expectEqual(`${what}: chat`, [chat.status, chat.activeRunId, chat.run.status], ['idle', null, status]);
}

async function against(fault: string | null, protocol: Protocol): Promise<void> {
  using folder = new DataFolder();
  await using provider = await FakeProvider.start();
  const env = {
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: provider.baseUrl,
    RUNWIRE_MODEL: 'openai/some-model',
    RUNWIRE_OPENAI_API: protocol,
  };
  const limits = { modelSilenceMs: SILENCE_MS };
  await using server = await startServer(fault, { dataDir: folder.path, env, limits });
  for (const bad of BAD_PROVIDERS) await endsAsPromised(server.api, provider, bad, protocol);
}

export const proof: Proof = {
  name: 'bad-models',
  minutes: 0.7,
  faults: {
    'endless-patience': /^responses, a provider that hangs before its first byte: end of its stream: expected within/m,
  },
  figures: () => ({ bad_providers: 34, protocols: 2, runs: 68, settled: 68 }),
  async run({ fault }) {
    for (const protocol of PROTOCOLS) await against(fault, protocol);
    const runs = BAD_PROVIDERS.length * PROTOCOLS.length;
    return { bad_providers: BAD_PROVIDERS.length, protocols: PROTOCOLS.length, runs, settled: runs };
  },
};
