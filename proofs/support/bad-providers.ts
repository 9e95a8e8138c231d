import { type Protocol, type ProviderCall, providerEvents, type StreamScript, sseText } from '@runwire/test-kit';

export const KEY = 'sk-planted-0123456789abcdef';
/** How long the server under proof lets a provider be silent. */
export const SILENCE_MS = 1000;

/** How a provider misbehaves, and how the run must end. */
export interface BadProvider {
  readonly name: string;
  /** What is done with the first call, the second …; the last one with all that follow. */
  readonly plays: readonly ((call: ProviderCall, protocol: Protocol) => unknown)[];
  readonly calls: number;
  readonly end: 'completed' | { readonly code: 'model_error' | 'model_timeout'; readonly sentence: RegExp };
  readonly answer: string;
  /** It never began to answer: what the model was shown counts for nothing. */
  readonly neverBegan?: true;
  /** Of a tool call that was under way. */
  readonly argumentsBytes?: number;
  /** Input and output tokens where the provider's own are to be used; otherwise they are estimated. */
  readonly tokens?: readonly [number, number];
}

const USAGE = { requestCount: 1, inputTokens: 40, cachedTokens: 0, outputTokens: 6, reasoningTokens: 0 };
const SCRIPT: StreamScript = { said: [{ kind: 'text', deltas: ['Good ', 'day'] }], usage: USAGE };
const TOKENS = [40, 6] as const;

const wire = (protocol: Protocol, script: StreamScript = SCRIPT) => sseText(providerEvents(protocol, script));
const unfinished = (protocol: Protocol) => wire(protocol, { ...SCRIPT, end: 'none' });
const good = (call: ProviderCall, protocol: Protocol) => call.stream(wire(protocol));
const status = (code: number, body: unknown, headers?: Record<string, string>) => (call: ProviderCall) =>
  call.answer(code, body, headers);
const bytes = (sent: string | Buffer) => (call: ProviderCall) => call.stream(sent);
const error = (sentence: RegExp) => ({ code: 'model_error' as const, sentence });
const timeout = {
  code: 'model_timeout' as const,
  sentence: /silent for 1 s; try again with a new `usageRequestId`\.$/,
};
/** An error told inside a stream that has begun well. */
const told = (code: string, message: string) => (call: ProviderCall, protocol: Protocol) => {
  const event =
    protocol === 'chat'
      ? { error: { code, message } }
      : { type: 'response.failed', sequence_number: 1, response: { status: 'failed', error: { code, message } } };
  return call.stream(wire(protocol, { said: [], end: 'none' }) + sseText([event]));
};
/** A tool call whose arguments have come half. */
const HALF_CALL = '{"zone"';
const halfCall = (protocol: Protocol) => {
  const calls = [['call_1', 'clock', '{"zone":"UTC"}']] as const;
  const events = providerEvents(protocol, { said: [{ kind: 'calls', calls }], end: 'none' });
  const half = events.findIndex((event) => JSON.stringify(event).includes(JSON.stringify(HALF_CALL)));
  return sseText(events.slice(0, half + 1));
};
const AT_ONCE = { 'retry-after': '0' };
const LEAK = { error: { message: `Incorrect API key provided: ${KEY}.` } };

/** The usage of the last event, replaced. */
const lying = (input: string, output: string) => (call: ProviderCall, protocol: Protocol) => {
  const names = protocol === 'chat' ? ['prompt_tokens', 'completion_tokens'] : ['input_tokens', 'output_tokens'];
  const honest = wire(protocol);
  return call.stream(
    honest
      .replaceAll(`"${names[0]}":40`, `"${names[0]}":${input}`)
      .replaceAll(`"${names[1]}":6`, `"${names[1]}":${output}`),
  );
};

const completed = { end: 'completed', answer: 'Good day', calls: 1 } as const;
const failed = { answer: '', calls: 1 } as const;
const refused = { ...failed, neverBegan: true } as const;

export const BAD_PROVIDERS: readonly BadProvider[] = [
  {
    ...completed,
    name: 'is slow, but not silent',
    tokens: TOKENS,
    plays: [
      async (call, protocol) => {
        for (const event of wire(protocol).split(/(?<=\n\n)/)) {
          await call.bytes(event);
          await new Promise((resolve) => setTimeout(resolve, SILENCE_MS / 12));
        }
        call.end();
      },
    ],
  },
  { ...refused, name: 'hangs before its first byte', end: timeout, plays: [() => {}] },
  { ...failed, name: 'hangs after its head', end: timeout, plays: [(call) => call.head()] },
  {
    ...failed,
    name: 'hangs in the middle',
    end: timeout,
    answer: 'Good day',
    plays: [(call, protocol) => call.bytes(unfinished(protocol))],
  },
  {
    ...completed,
    name: 'cuts once before it says anything',
    calls: 2,
    tokens: TOKENS,
    plays: [(call) => call.cut(), good],
  },
  {
    ...refused,
    name: 'cuts always',
    calls: 3,
    end: error(/cannot be reached.*check OPENAI_BASE_URL/),
    plays: [(call) => call.cut()],
  },
  {
    ...failed,
    name: 'cuts in the middle',
    end: error(/before the answer was complete; try again\.$/),
    answer: 'Good day',
    plays: [
      async (call, protocol) => {
        await call.bytes(unfinished(protocol));
        // The reader has it before the connection breaks: a reset may take with it what was not read.
        await new Promise((resolve) => setTimeout(resolve, SILENCE_MS / 5));
        call.cut();
      },
    ],
  },
  {
    ...failed,
    name: 'ends in the middle as if that were all',
    end: error(/before the answer was complete; try again\.$/),
    answer: 'Good day',
    plays: [(call, protocol) => call.stream(unfinished(protocol))],
  },
  {
    ...failed,
    name: 'reports an error in the middle',
    end: error(/reported an error: The engine stumbled\.$/),
    answer: 'Good day',
    plays: [(call, protocol) => call.stream(wire(protocol, { ...SCRIPT, end: 'error' }))],
  },
  {
    ...failed,
    name: 'hangs in the middle of a tool call',
    end: timeout,
    argumentsBytes: HALF_CALL.length,
    plays: [(call, protocol) => call.bytes(halfCall(protocol))],
  },
  {
    ...completed,
    name: 'says in its stream that it is overloaded, then answers well',
    calls: 2,
    tokens: TOKENS,
    plays: [told('server_is_overloaded', 'Too much.'), good],
  },
  {
    ...failed,
    name: 'says in its stream that it is asked too often, always',
    calls: 3,
    end: error(/limits the request rate: Slow down; try again later\.$/),
    plays: [told('rate_limit_exceeded', 'Slow down.')],
  },
  {
    ...failed,
    name: 'says in its stream that it fails, always',
    calls: 3,
    end: error(/reported an error: The engine stumbled\.$/),
    plays: [told('server_error', 'The engine stumbled.')],
  },
  {
    ...failed,
    name: 'refuses the prompt in its stream',
    end: error(/reported an error: Not this\.$/),
    plays: [told('invalid_prompt', 'Not this.')],
  },
  {
    ...failed,
    name: 'stops at its limit',
    end: error(/did not finish its answer: it reached its token limit/),
    answer: 'Good day',
    tokens: TOKENS,
    plays: [(call, protocol) => call.stream(wire(protocol, { ...SCRIPT, end: 'length' }))],
  },
  { ...completed, name: 'reports negative usage', plays: [lying('-40', '-6')] },
  { ...completed, name: 'reports usage as strings', plays: [lying('"40"', '"6"')] },
  { ...completed, name: 'reports usage beyond all measure', plays: [lying('1e300', '6')] },
  { ...completed, name: 'reports half tokens', plays: [lying('40', '6.5')] },
  {
    ...completed,
    name: 'reports no usage',
    plays: [(call, protocol) => call.stream(wire(protocol, { ...SCRIPT, usage: null }))],
  },
  { ...failed, name: 'sends a web page', end: error(/event stream; check/), plays: [bytes('<html>Hello</html>')] },
  { ...failed, name: 'sends noise', end: error(/event stream; check/), plays: [bytes(Buffer.alloc(5000, 0xfe))] },
  { ...failed, name: 'sends broken JSON', end: error(/not a JSON object; check/), plays: [bytes('data: {"a\n\n')] },
  {
    ...failed,
    name: 'speaks the other protocol',
    end: error(/another protocol; check .*RUNWIRE_OPENAI_API/),
    plays: [(call, protocol) => call.stream(wire(protocol === 'chat' ? 'responses' : 'chat'))],
  },
  {
    ...completed,
    name: 'sends its end and more a second time',
    tokens: TOKENS,
    plays: [(call, protocol) => call.stream(wire(protocol) + wire(protocol))],
  },
  {
    ...refused,
    name: 'answers 400',
    end: error(/refused the request \(400\): Bad\.$/),
    plays: [status(400, { error: { message: 'Bad.' } })],
  },
  { ...refused, name: 'answers 401', end: error(/\(401\); check OPENAI_API_KEY\.$/), plays: [status(401, LEAK)] },
  { ...refused, name: 'answers 404', end: error(/\(404\); check RUNWIRE_MODEL/), plays: [status(404, LEAK)] },
  {
    ...completed,
    name: 'answers 429 with Retry-After, then well',
    calls: 2,
    tokens: TOKENS,
    plays: [status(429, LEAK, AT_ONCE), good],
  },
  {
    ...refused,
    name: 'answers 429 always',
    calls: 3,
    end: error(/\(429\).*try again later\.$/),
    plays: [status(429, LEAK, AT_ONCE)],
  },
  {
    ...refused,
    name: 'answers 429 for an hour',
    end: error(/\(429\).*try again later\.$/),
    plays: [status(429, LEAK, { 'retry-after': '3600' })],
  },
  {
    ...completed,
    name: 'answers 500, then well',
    calls: 2,
    tokens: TOKENS,
    plays: [status(500, 'oops', AT_ONCE), good],
  },
  {
    ...refused,
    name: 'answers 500 always',
    calls: 3,
    end: error(/failed \(500\); try again\.$/),
    plays: [status(500, 'oops', AT_ONCE)],
  },
  {
    ...refused,
    name: 'answers 529 always',
    calls: 3,
    end: error(/overloaded \(529\).*try again later\.$/),
    plays: [status(529, LEAK, AT_ONCE)],
  },
];

export { good };
