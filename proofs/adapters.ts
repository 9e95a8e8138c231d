import {
  FakeProvider,
  Listener,
  type ModelRequest,
  modelRequest,
  type OpenAiModels,
  openAiModels,
  type Protocol,
  type ProviderCall,
  providerEvents,
  type StreamScript,
  sseText,
} from '@runwire/test-kit';
import OpenAI from 'openai';
import { expectAtLeast, expectEqual, type Proof, within } from './support/proof.ts';
import { MULTI_BYTE, PLAIN_WIRE, SCRIPTS, TEN_MEGABYTES, WIRES, type Wire } from './support/provider-scripts.ts';

const WAIT_MS = 60_000;
const MIN_STREAMS = 40;
const PROTOCOLS: readonly Protocol[] = ['responses', 'chat'];

/** What came out of a stream, whoever read it. */
interface Read {
  text: string;
  reasoning: string;
  calls: (readonly string[])[];
  /** Input, cached, output and reasoning tokens. */
  usage: readonly number[] | null;
  /** An error, or an answer that the provider says is not whole. */
  failed: boolean;
}

const never = () => new AbortController().signal;
const PLAIN: StreamScript = { said: [{ kind: 'text', deltas: ['Hello'] }] };
const REASONING: readonly NonNullable<ModelRequest['reasoning']>[] = [
  { effort: 'minimal' },
  { effort: 'high' },
  { effort: 'low', summary: 'auto' },
  { effort: 'medium', summary: 'detailed' },
];

const nothing = (): Read => ({ text: '', reasoning: '', calls: [], usage: null, failed: false });

/** Takes one thing at a time: after each it is full, and has room again in the next turn. */
class HaltingListener extends Listener {
  halts = 0;
  #full = false;

  override get isFull(): boolean {
    return this.#full;
  }
  override text(text: string): void {
    super.text(text);
    this.#full = true;
  }
  override reasoning(text: string): void {
    super.reasoning(text);
    this.#full = true;
  }
  override onceRoom(goOn: () => void): void {
    this.halts += 1;
    setImmediate(() => {
      this.#full = false;
      goOn();
    });
  }
}

async function readByUs(models: OpenAiModels, output = new Listener()): Promise<Read> {
  const read = nothing();
  const { signal } = new AbortController();
  const result = await models
    .model('openai/m')
    ?.call(modelRequest('Hi'), output, signal)
    .catch((error: Error) => {
      if (error.name !== 'RunFailure') throw error;
      read.failed = true;
    });
  const usage = result?.usage ?? output.reported;
  return {
    ...read,
    text: output.all('text'),
    reasoning: output.all('reasoning'),
    // A call of a response that failed is never made.
    calls: read.failed ? [] : output.calls,
    usage: usage && [usage.inputTokens, usage.cachedTokens, usage.outputTokens, usage.reasoningTokens],
  };
}

/** The official client: its decoder reads the bytes, its accumulator puts the answer together. */
async function readByResponsesClient(client: OpenAI): Promise<Read> {
  const read = nothing();
  try {
    const stream = client.responses.stream({ model: 'm', input: 'Hi' });
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta' || event.type === 'response.refusal.delta')
        read.text += event.delta;
      if (event.type === 'response.reasoning_summary_text.delta') read.reasoning += event.delta;
      if (event.type === 'error' || event.type === 'response.failed') throw new OpenAI.OpenAIError('failed');
      if (event.type === 'response.completed' || event.type === 'response.incomplete') {
        const { usage, status, output } = event.response;
        read.failed = status !== 'completed';
        for (const item of output) {
          if (item.type === 'function_call') read.calls.push([item.call_id, item.name, item.arguments]);
        }
        read.usage = usage
          ? [
              usage.input_tokens,
              usage.input_tokens_details.cached_tokens,
              usage.output_tokens,
              usage.output_tokens_details.reasoning_tokens,
            ]
          : null;
      }
    }
  } catch (error) {
    if (!(error instanceof OpenAI.OpenAIError)) throw error;
    read.failed = true;
  }
  return read;
}

async function readByChatClient(client: OpenAI): Promise<Read> {
  const read = nothing();
  try {
    const stream = client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
    for await (const chunk of stream) {
      const delta = chunk.choices[0]?.delta as { content?: string; refusal?: string; reasoning_content?: string };
      read.text += (delta?.content ?? '') + (delta?.refusal ?? '');
      read.reasoning += delta?.reasoning_content ?? '';
      // Before the accumulator, which takes an answer that is not whole for an error.
      if (chunk.usage) {
        const { prompt_tokens: input, completion_tokens: output } = chunk.usage;
        const cached = chunk.usage.prompt_tokens_details?.cached_tokens ?? 0;
        read.usage = [input, cached, output, chunk.usage.completion_tokens_details?.reasoning_tokens ?? 0];
      }
      const reason = chunk.choices[0]?.finish_reason;
      if (reason === 'length' || reason === 'content_filter') read.failed = true;
    }
    const { choices } = await stream.finalChatCompletion();
    for (const call of choices[0]?.message.tool_calls ?? []) {
      if (call.type === 'function') read.calls.push([call.id, call.function.name, call.function.arguments]);
    }
  } catch (error) {
    if (!(error instanceof OpenAI.OpenAIError)) throw error;
    read.failed = true;
  }
  return read;
}

/** Plays streams to both readers and holds what they read against each other. */
class Comparison implements AsyncDisposable {
  readonly #protocol: Protocol;
  readonly #provider: FakeProvider;
  readonly #models: OpenAiModels;
  readonly #client: OpenAI;
  readonly #dropLast: boolean;
  streams = 0;
  halts = 0;
  asked = 0;

  private constructor(protocol: Protocol, provider: FakeProvider, models: OpenAiModels, dropLast: boolean) {
    this.#protocol = protocol;
    this.#provider = provider;
    this.#dropLast = dropLast;
    this.#models = models;
    this.#client = new OpenAI({ baseURL: provider.baseUrl, apiKey: 'sk-1', maxRetries: 0 });
  }

  static async start(protocol: Protocol, dropLast: boolean): Promise<Comparison> {
    const provider = await FakeProvider.start();
    const { baseUrl } = provider;
    const models = await openAiModels({ baseUrl, apiKey: 'sk-1', silenceMs: WAIT_MS, api: protocol });
    return new Comparison(protocol, provider, models, dropLast);
  }

  /** The same bytes, cut at the same places, to both. */
  async compare(name: string, script: StreamScript, bytes: Buffer, cuts: readonly number[] = []): Promise<void> {
    const what = `${this.#protocol}, ${name}`;
    const official = this.#protocol === 'responses' ? readByResponsesClient : readByChatClient;
    const play = async <T>(sent: Buffer, read: () => Promise<T>): Promise<T> => {
      this.#provider.onCall = (call) => {
        void call.pieces(sent, cuts).then(() => call.end());
      };
      return within(what, WAIT_MS, read());
    };
    const theirs = await play(bytes, () => official(this.#client));
    const ours = await play(this.#dropLast ? withoutLast(bytes) : bytes, () => readByUs(this.#models));
    for (const field of ['failed', 'text', 'reasoning', 'calls', 'usage'] as const) {
      expectEqual(`${what}: ${field}`, ours[field], theirs[field]);
    }
    const said = script.said.map((part) =>
      part.kind === 'text' || part.kind === 'refusal' ? part.deltas.join('') : '',
    );
    expectEqual(`${what}: text as it was written`, ours.text, said.join(''));
    const output = new HaltingListener();
    const halted = await play(bytes, () => readByUs(this.#models, output));
    this.halts += output.halts;
    // Where it was dropped on purpose, the one above has failed already.
    expectEqual(`${what}: read with halts`, halted, ours);
    this.streams += 1;
  }

  /** What an agent asks of reasoning goes out as the official client sends it. */
  async compareReasoning(): Promise<void> {
    const bytes = Buffer.from(sseText(providerEvents(this.#protocol, PLAIN)));
    for (const reasoning of REASONING) {
      const bodies: ProviderCall['body'][] = [];
      this.#provider.onCall = (call) => {
        bodies.push(call.body);
        void call.stream(bytes);
      };
      await this.#models.model('openai/m')?.call(modelRequest('Hi', { reasoning }), new Listener(), never());
      if (this.#protocol === 'responses') {
        await this.#client.responses.stream({ model: 'm', input: 'Hi', reasoning }).finalResponse();
      } else {
        const messages = [{ role: 'user' as const, content: 'Hi' }];
        const asked = reasoning.effort === undefined ? {} : { reasoning_effort: reasoning.effort };
        await this.#client.chat.completions.stream({ model: 'm', messages, ...asked }).finalChatCompletion();
      }
      const [ours, theirs] = bodies.map((body) => [body.reasoning ?? null, body.reasoning_effort ?? null]);
      expectEqual(`${this.#protocol}, reasoning asked for by ${JSON.stringify(reasoning)}`, ours, theirs);
      this.asked += 1;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#models[Symbol.asyncDispose]();
    await this.#provider[Symbol.asyncDispose]();
  }
}

/** What a decoder that drops the last event would hand on. */
function withoutLast(bytes: Buffer): Buffer {
  const text = bytes.toString().trimEnd();
  return Buffer.from(text.slice(0, Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n')) + 1));
}

async function compareAll(protocol: Protocol, dropLast: boolean, everyByte: number) {
  await using comparison = await Comparison.start(protocol, dropLast);
  const bytesOf = (script: StreamScript, { lineEnd, comment }: Wire = PLAIN_WIRE) =>
    Buffer.from(sseText(providerEvents(protocol, script), lineEnd, comment));
  for (const [wireName, wire] of Object.entries(WIRES)) {
    for (const [name, script] of Object.entries(SCRIPTS)) {
      await comparison.compare(`${name} by ${wireName}`, script, bytesOf(script, wire));
    }
  }
  const streams = comparison.streams;
  await comparison.compare('10 MB delta', TEN_MEGABYTES, bytesOf(TEN_MEGABYTES));
  const bytes = bytesOf(MULTI_BYTE);
  const all = Array.from({ length: bytes.length - 1 }, (_, i) => i + 1);
  await comparison.compare('multi-byte text in single bytes', MULTI_BYTE, bytes, all);
  let cuts = 0;
  // Around the text itself at every byte; elsewhere as often as asked.
  const isNearText = (at: number) => bytes.subarray(at - 2, at + 2).some((byte) => byte >= 0x80);
  for (const at of all.filter((place) => place % everyByte === 0 || isNearText(place))) {
    await comparison.compare(`multi-byte text cut at byte ${at}`, MULTI_BYTE, bytes, [at]);
    cuts += 1;
  }
  await comparison.compareReasoning();
  return { streams: streams + 2, cuts, halts: comparison.halts, asked: comparison.asked };
}

export const proof: Proof = {
  name: 'adapters',
  minutes: 1.3,
  faults: {
    'drop-last-event': /^responses, plain by LF: failed: expected false, found true\.$/m,
  },
  figures: () => ({ responses_reasoning_asked: 4, chat_reasoning_asked: 4 }),
  async run({ fault, scale }) {
    const short = scale(true, false);
    const figures: Record<string, number> = {};
    let streams = 0;
    for (const protocol of PROTOCOLS) {
      const compared = await compareAll(protocol, fault === 'drop-last-event', short ? 25 : 1);
      streams += compared.streams;
      figures[`${protocol}_cuts`] = compared.cuts;
      figures[`${protocol}_halts`] = expectAtLeast(`${protocol}: halts`, compared.halts, MIN_STREAMS);
      figures[`${protocol}_reasoning_asked`] = compared.asked;
    }
    return { streams: expectAtLeast('streams read alike', streams, MIN_STREAMS), ...figures };
  },
};
