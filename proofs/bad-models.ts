import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApiClient,
  FakeProvider,
  type Protocol,
  type ProviderCall,
  providerEvents,
  type StreamScript,
  sseText,
} from '@runwire/test-kit';
import { expectEqual, type Proof, Shortfall, within } from './support/proof.ts';
import { Rig } from './support/rig.ts';

const KEY = 'sk-planted-0123456789abcdef';
const LEAK = { error: { message: `Incorrect API key provided: ${KEY}.` } };
/** How long the server lets a provider be silent. */
const SILENCE_MS = 1000;
const PROTOCOLS: readonly Protocol[] = ['responses', 'chat'];
const HALF_CALL = '{"zone"';
const USAGE = { requestCount: 1, inputTokens: 40, cachedTokens: 0, outputTokens: 6, reasoningTokens: 0 };
const SCRIPT: StreamScript = { said: [{ kind: 'text', deltas: ['Good ', 'day'] }], usage: USAGE };

interface BadProvider {
  readonly name: string;
  /** What it does with the first call, the second …; the last one with all that follow. */
  readonly plays: readonly (readonly [act: string, ...details: string[]])[];
  readonly calls: number;
  readonly end: 'completed' | 'model_error' | 'model_timeout';
  readonly sentence?: string;
  readonly answer: string;
  /** It never began to answer: the prompt is not charged. */
  readonly neverBegan?: true;
  /** Of a tool call that was not finished. */
  readonly argumentsBytes?: number;
  /** Input and output tokens if the provider's own count; otherwise they are estimated. */
  readonly tokens?: readonly [number, number];
}

const badProviders = JSON.parse(
  readFileSync(new URL('data/bad-providers.json', import.meta.url), 'utf8'),
) as readonly BadProvider[];

/** The bytes of a stream, by the name that the data gives it. */
function bytesOf(protocol: Protocol, name: string, a = '', b = ''): string | Buffer {
  const wire = (script: StreamScript = SCRIPT, by = protocol) => sseText(providerEvents(by, script));
  if (name === 'whole') return wire();
  if (name === 'twice') return wire() + wire();
  if (name === 'raw') return a;
  if (name === 'noise') return Buffer.alloc(5000, 0xfe);
  if (name === 'other protocol') return wire(SCRIPT, protocol === 'chat' ? 'responses' : 'chat');
  if (name === 'no usage') return wire({ ...SCRIPT, usage: null });
  if (name === 'unfinished') return wire({ ...SCRIPT, end: 'none' });
  if (name === 'error' || name === 'length') return wire({ ...SCRIPT, end: name });
  if (name === 'failure') {
    const error = { code: a, message: b };
    const failed = { type: 'response.failed', sequence_number: 1, response: { status: 'failed', error } };
    return wire({ said: [], end: 'none' }) + sseText([protocol === 'chat' ? { error } : failed]);
  }
  if (name === 'usage') {
    const [input, output] = protocol === 'chat' ? ['prompt', 'completion'] : ['input', 'output'];
    const lie = (text: string, field = '', value = '') =>
      text.replaceAll(new RegExp(`("${field}_tokens":)(40|6)\\b`, 'g'), `$1${value}`);
    return lie(lie(wire(), input, a), output, b);
  }
  const events = providerEvents(protocol, {
    said: [{ kind: 'calls', calls: [['call_1', 'clock', '{"zone":"UTC"}']] }],
    end: 'none',
  });
  const half = events.findIndex((event) => JSON.stringify(event).includes(JSON.stringify(HALF_CALL)));
  return sseText(events.slice(0, half + 1));
}

async function misbehave(call: ProviderCall, protocol: Protocol, [act, ...details]: BadProvider['plays'][number]) {
  if (act === 'head') call.head();
  if (act === 'cut') call.cut();
  if (act === 'answer') {
    const [status, body, retryAfter] = details;
    const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    call.answer(Number(status), body === '{LEAK}' ? LEAK : body, headers);
  }
  if (!/^(send|stream|slowly)/.test(act)) return;
  const bytes = bytesOf(protocol, ...(details as [string, string?, string?]));
  if (act === 'stream') await call.stream(bytes);
  else if (act === 'slowly') {
    for (const event of String(bytes).split(/(?<=\n\n)/)) {
      await call.bytes(event);
      await sleep(SILENCE_MS / 12);
    }
    call.end();
  } else await call.bytes(bytes);
  if (act !== 'send and cut') return;
  // The server reads the bytes first: a reset may discard what was not read.
  await sleep(SILENCE_MS / 5);
  call.cut();
}

/** One run against one bad provider: its calls, its end, its charge, and the next turn of its chat. */
async function endsAsPromised(api: ApiClient, provider: FakeProvider, bad: BadProvider, protocol: Protocol) {
  const what = `${protocol}, a provider that ${bad.name}`;
  const id = `${protocol} ${bad.name}`;
  const equal = (of: string, found: unknown, expected: unknown) => expectEqual(`${what}: ${of}`, found, expected);
  const before = provider.calls.length;
  provider.onCall = (call) => {
    const nth = Math.min(provider.calls.length - before, bad.plays.length) - 1;
    void misbehave(call, protocol, bad.plays[nth] ?? ['hang']);
  };
  const reader = await api.complete({ usageRequestId: id, chatId: id, message: 'Hello' });
  equal('the stream came whole', await within(`${what}: end of its stream`, 20_000, reader.over), true);
  equal('calls of the provider', provider.calls.length - before, bad.calls);
  equal('answer', reader.answer, bad.answer);
  const [error, messages, end] = reader.frames.slice(-3);
  const ending = JSON.parse(messages?.data ?? '{}');
  const status = bad.end === 'completed' ? 'completed' : 'failed';
  equal('end', [messages?.event, ending.status, end?.event], ['messages', status, 'end']);
  if (bad.end !== 'completed') {
    const { code, error: sentence } = JSON.parse(error?.data ?? '{}');
    equal('error', [error?.event, code, ending.error], [null, bad.end, { code: bad.end, message: sentence }]);
    if (!new RegExp(bad.sentence ?? '').test(sentence)) {
      throw new Shortfall(`${what}: expected /${bad.sentence}/, found ${sentence}.`);
    }
  }
  equal('the key is in the stream', reader.text.includes(KEY), false);

  const query = `usageRequestId=${encodeURIComponent(id)}`;
  const { items } = (await api.get(`/v2/integrations/demo/usage?${query}`)).body;
  equal(
    'usage records',
    items.map((record: typeof ending) => [record.status, record.usage]),
    [[status, ending.usage]],
  );
  equal('the record is complete', items[0].completedAt !== null, true);
  for (const [name, tokens] of Object.entries<number>(ending.usage)) {
    equal(`${name} is a count`, Number.isSafeInteger(tokens) && tokens >= 0, true);
  }
  const shown = bad.neverBegan === true ? 0 : Math.ceil(shownBytes(provider) / 4);
  const said = Math.ceil((bad.answer.length + (bad.argumentsBytes ?? 0)) / 4);
  equal('tokens', [ending.usage.input_tokens, ending.usage.output_tokens], bad.tokens ?? [shown, said]);
  const { body: chat } = await api.get(`/v2/integrations/demo/chat_status?${query}`);
  equal('chat', [chat.status, chat.activeRunId, chat.run.status], ['idle', null, status]);

  provider.onCall = (call) => void call.stream(bytesOf(protocol, 'whole'));
  const next = await api.complete({ chatId: id, message: 'And now?' });
  await within(`${what}: end of the next turn`, 20_000, next.over);
  equal('answer of the next turn', next.answer, 'Good day');
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
    for (const protocol of PROTOCOLS) {
      await using provider = await FakeProvider.start();
      const env = {
        OPENAI_API_KEY: KEY,
        OPENAI_BASE_URL: provider.baseUrl,
        RUNWIRE_MODEL: 'openai/some-model',
        RUNWIRE_OPENAI_API: protocol,
      };
      await using rig = await Rig.start({ fault, env, limits: { modelSilenceMs: SILENCE_MS }, scripted: false });
      for (const bad of badProviders) await endsAsPromised(rig.api(), provider, bad, protocol);
    }
    const runs = badProviders.length * PROTOCOLS.length;
    return { bad_providers: badProviders.length, protocols: PROTOCOLS.length, runs, settled: runs };
  },
};
