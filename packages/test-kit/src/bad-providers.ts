import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Protocol, providerEvents, sseText } from '@runwire/models/src/testing/provider-streams.ts';
import type { StreamScript } from '@runwire/models/src/testing/stream-script.ts';
import { PLANTED_KEY, type ProviderCall } from './fake-provider.ts';

/** What Anthropic calls the errors that OpenAI gives these codes. */
const ANTHROPIC_TYPES: Readonly<Record<string, string>> = {
  server_is_overloaded: 'overloaded_error',
  rate_limit_exceeded: 'rate_limit_error',
  server_error: 'api_error',
  invalid_prompt: 'invalid_request_error',
};
const LEAK = { error: { message: `Incorrect API key provided: ${PLANTED_KEY}.` } };
/** How long the server lets a provider be silent. */
export const SILENCE_MS = 1000;
const HALF_CALL = '{"zone"';
const USAGE = { requestCount: 1, inputTokens: 40, cachedTokens: 0, outputTokens: 6, reasoningTokens: 0 };
const SCRIPT: StreamScript = { parts: [{ kind: 'text', deltas: ['Good ', 'day'] }], usage: USAGE };

/** A provider that hangs, cuts, sends false data or refuses, and how a run against it must end. */
export interface BadProvider {
  readonly name: string;
  /** What it does with the first call, the second, and so on. The last entry applies to all further calls. */
  readonly plays: readonly (readonly [act: string, ...details: string[]])[];
  readonly calls: number;
  readonly end: 'completed' | 'model_error' | 'model_timeout';
  readonly sentence?: string;
  readonly answer: string;
  /** True if it never began to answer, so the prompt is not charged. */
  readonly neverBegan?: true;
  /** True if it sends the head of its answer and nothing more. */
  readonly onlyHead?: true;
  /** The length of the arguments of a tool call that was not finished. */
  readonly argumentsBytes?: number;
  /** Input and output tokens, if the provider counts them itself. Otherwise they are estimated. */
  readonly tokens?: readonly [number, number];
  /** Input tokens that each answer reports at its start, if its protocol can. They count although the answer fails. */
  readonly startTokens?: number;
  /** What is different if our adapter of the AI SDK asks it. */
  readonly aiSdk?: Partial<BadProvider>;
}

/** Most providers are asked once and send no output: `calls` and `answer` are given only if they differ. */
const DEFAULTS = { calls: 1, answer: '' };
type ProviderEntry = Omit<BadProvider, keyof typeof DEFAULTS> & Partial<BadProvider>;
const entries: readonly ProviderEntry[] = JSON.parse(
  readFileSync(new URL('./bad-providers.json', import.meta.url), 'utf8'),
);
export const badProviders: readonly BadProvider[] = entries.map((provider) => ({ ...DEFAULTS, ...provider }));

/** A stream's bytes, by the name that the data gives it. */
export function toBytes(protocol: Protocol, name: string, a = '', b = ''): string | Buffer {
  const wire = (script: StreamScript = SCRIPT, by = protocol) => sseText(providerEvents(by, script));
  // Answers of the Messages protocol begin with a usage.
  const startUsage = protocol === 'messages' ? USAGE : null;
  if (name === 'whole') return wire();
  if (name === 'twice') return wire() + wire();
  if (name === 'raw') return a;
  if (name === 'noise') return Buffer.alloc(5000, 0xfe);
  if (name === 'other protocol') return wire(SCRIPT, protocol === 'chat' ? 'responses' : 'chat');
  if (name === 'no usage') return wire({ ...SCRIPT, usage: null });
  if (name === 'unfinished') return wire({ ...SCRIPT, end: 'none' });
  if (name === 'error' || name === 'length') return wire({ ...SCRIPT, end: name });
  if (name === 'thought') return wire({ parts: [{ kind: 'reasoning', deltas: ['Hm.'] }], usage: USAGE, end: 'error' });
  if (name === 'call')
    return wire({ parts: [{ kind: 'calls', calls: [['call_1', 'list_files', '{}']] }], usage: USAGE });
  if (name === 'failure') {
    const error = { code: a, message: b };
    const events = {
      responses: { type: 'response.failed', sequence_number: 1, response: { status: 'failed', error } },
      chat: { error },
      messages: { type: 'error', error: { type: ANTHROPIC_TYPES[a] ?? a, message: b } },
    };
    return wire({ parts: [], usage: startUsage, end: 'none' }) + sseText([events[protocol]]);
  }
  if (name === 'usage') {
    const [input, output] = protocol === 'chat' ? ['prompt', 'completion'] : ['input', 'output'];
    const lie = (text: string, field = '', value = '') =>
      text.replaceAll(new RegExp(`("${field}_tokens":)(40|6)\\b`, 'g'), `$1${value}`);
    return lie(lie(wire(), input, a), output, b);
  }
  const events = providerEvents(protocol, {
    parts: [{ kind: 'calls', calls: [['call_1', 'clock', '{"zone":"UTC"}']] }],
    usage: startUsage,
    end: 'none',
  });
  const half = events.findIndex((event) => JSON.stringify(event).includes(JSON.stringify(HALF_CALL)));
  return sseText(events.slice(0, half + 1));
}

/** Answers a call as the data describes. */
export async function misbehave(
  call: ProviderCall,
  protocol: Protocol,
  [act, ...details]: BadProvider['plays'][number],
) {
  if (act === 'head') call.head();
  if (act === 'cut') call.cut();
  if (act === 'answer') {
    const [status, body, retryAfter] = details;
    const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    call.answer(Number(status), body === '{LEAK}' ? LEAK : body, headers);
  }
  if (!/^(send|stream|slowly)/.test(act)) return;
  const bytes = toBytes(protocol, ...(details as [string, string?, string?]));
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
