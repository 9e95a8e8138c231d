import type { Said, StreamScript } from '@runwire/test-kit';

type Usage = NonNullable<StreamScript['usage']>;

const usage = (inputTokens: number, cachedTokens: number, outputTokens: number, reasoningTokens: number): Usage => ({
  requestCount: 1,
  inputTokens,
  cachedTokens,
  outputTokens,
  reasoningTokens,
});
const USAGE = usage(120, 64, 33, 7);

const text = (...deltas: string[]): Said => ({ kind: 'text', deltas });
const reasoning = (...deltas: string[]): Said => ({ kind: 'reasoning', deltas });
const refusal = (...deltas: string[]): Said => ({ kind: 'refusal', deltas });
const calls = (...all: (readonly [string, string, string])[]): Said => ({ kind: 'calls', calls: all });

export const MULTI_BYTE: StreamScript = { said: [text('é', '€', '😀', 'naïve 日本語 ', '\u2028')], usage: USAGE };

/** What providers say, by name: each is played in both protocols. */
export const SCRIPTS: Readonly<Record<string, StreamScript>> = {
  plain: { said: [text('Hello', ', ', 'world', '.')], usage: USAGE },
  empty: { said: [text('')], usage: usage(3, 0, 0, 0) },
  'one character': { said: [text('x')], usage: USAGE },
  'no usage': { said: [text('Free', ' of charge')], usage: null },
  'usage of zeros': { said: [text('Nothing')], usage: usage(0, 0, 0, 0) },
  'large usage': { said: [text('A lot')], usage: usage(900_000, 800_000, 100_000, 90_000) },
  'multi-byte': MULTI_BYTE,
  'line ends and colons in the text': {
    said: [text('a\nb', '\r\nc\rd', 'data: x\n\n', ': e', '\u0000\t"\\')],
    usage: USAGE,
  },
  'many deltas': { said: [text(...Array.from({ length: 500 }, (_, i) => `w${i} `))], usage: USAGE },
  reasoning: { said: [reasoning('Let me ', 'think. '), text('Done', '.')], usage: USAGE },
  'reasoning alone': { said: [reasoning('Only', ' thought')], usage: USAGE },
  refusal: { said: [refusal('I am sorry', ', I cannot', ' do that.')], usage: USAGE },
  'one call': { said: [calls(['call_1', 'clock', '{"zone":"UTC"}'])], usage: USAGE },
  'a call without arguments': { said: [calls(['call_1', 'clock', ''])], usage: USAGE },
  'two calls at once': {
    said: [calls(['call_1', 'clock', '{"a":1}'], ['call_2', 'echo', '{"b":"é😀"}'])],
    usage: USAGE,
  },
  'eight calls at once': {
    said: [calls(...Array.from({ length: 8 }, (_, i) => [`call_${i}`, `tool_${i}`, `{"n":${i}}`] as const))],
    usage: USAGE,
  },
  'reasoning, text and calls': {
    said: [reasoning('Hm. '), text('Let me look', '.'), calls(['call_1', 'echo', '{}'], ['call_2', 'echo', '[]'])],
    usage: USAGE,
  },
  'an error at once': { said: [], end: 'error' },
  'an error in the middle': { said: [text('So far', ' so good')], end: 'error' },
  'an error after a call': { said: [text('Calling'), calls(['call_1', 'echo', '{}'])], end: 'error' },
  'cut by its limit': { said: [text('This goes on and')], usage: USAGE, end: 'length' },
  'stopped by a filter': { said: [text('This is not')], usage: USAGE, end: 'content_filter' },
};

export const TEN_MEGABYTES: StreamScript = { said: [text('x', 'é'.repeat(5 * 1024 * 1024), 'y')], usage: USAGE };

export interface Wire {
  readonly lineEnd: string;
  readonly comment: string | null;
}

export const PLAIN_WIRE: Wire = { lineEnd: '\n', comment: null };

export const WIRES: Readonly<Record<string, Wire>> = {
  LF: PLAIN_WIRE,
  CRLF: { lineEnd: '\r\n', comment: null },
  'LF with comments': { lineEnd: '\n', comment: 'processing' },
};
