import { setTimeout as sleep } from 'node:timers/promises';
import type { Model, ModelOutput, ModelRequest, ModelResult } from '../packages/server/src/agent/ports.ts';

/*
 * The message orders the output, `/say TOKENS BURST EVERY_MS CALLS`: CALLS answers that call the tool `note`, then one
 * with this many tokens, BURST of them in one turn of the event loop. With EVERY_MS 0 each turn is a separate `setImmediate`: tokens as fast as the server takes them. With BURST 1
 * every token costs a write, as from a provider that sends them one by one; with more, the tokens share writes, and the
 * rest is the work per token. Otherwise there is a turn every EVERY_MS, and its tokens contain the time at which they
 * were sent, so the reader knows their delay.
 *
 * The model below runs in the server's own process (`--in-process`), `provider.ts` serves the same over HTTP.
 */

const WORDS = 'the road from a question to its answer is short when nothing on it waits for somebody else to speak';
const TOKENS = WORDS.split(/(?= )/);

export interface Order {
  readonly tokens: number;
  readonly burst: number;
  readonly everyMs: number;
  /** The number of tool calls before the text, each in an answer of its own; 0 if it is absent. */
  readonly calls?: number;
  /** The API through which our server is asked; its own framing if it is absent. */
  readonly framing?: 'responses';
}

/** The tool that the model calls, and what it is given. */
export const NOTE = { name: 'note', arguments: '{"text":"what was found so far"}', output: 'Noted.' } as const;

export function orderText({ tokens, burst, everyMs, calls = 0 }: Order): string {
  return `/say ${tokens} ${burst} ${everyMs} ${calls} words about the shortest road there is, please`;
}

export function readOrder(text: string): Required<Omit<Order, 'framing'>> {
  const [, tokens, burst, everyMs, calls] = text.split(' ', 5);
  const order = { tokens: Number(tokens), burst: Number(burst), everyMs: Number(everyMs), calls: Number(calls) };
  if (!(order.tokens > 0 && order.burst > 0 && order.everyMs >= 0 && order.calls >= 0)) {
    throw new Error(`Not an order to the benchmark's model: ${text}`);
  }
  return order;
}

/** Microseconds of the machine's monotonic clock: the same in every process. */
export function nowMicros(): number {
  return Math.round(Number(process.hrtime.bigint()) / 1000);
}

export function token(order: Order, index: number): string {
  return order.everyMs === 0 ? (TOKENS[index % TOKENS.length] as string) : ` ${nowMicros()}`;
}

/** Returns null if the tokens contain times, which cannot be known before. */
export function expectedText(order: Order): string | null {
  if (order.everyMs > 0) return null;
  let text = '';
  for (let i = 0; i < order.tokens; i += 1) text += token(order, i);
  return text;
}

export const benchModel: Model = {
  id: 'bench/scripted',

  async call(request: ModelRequest, output: ModelOutput, signal: AbortSignal): Promise<ModelResult> {
    const asked = request.prompt.findLastIndex(({ kind }) => kind === 'user');
    const question = request.prompt[asked];
    const order = readOrder(question?.kind === 'user' ? question.text : '');
    const { tokens, burst, everyMs } = order;
    const called = request.prompt.slice(asked).filter(({ kind }) => kind === 'tool_output').length;
    if (called < order.calls) {
      output.toolCall(`call_${called + 1}`, NOTE.name, NOTE.arguments);
      return { usage: { requestCount: 1, inputTokens: 20, cachedTokens: 0, outputTokens: 8, reasoningTokens: 0 } };
    }
    for (let sent = 0; sent < tokens; ) {
      if (everyMs === 0 || sent === 0) await new Promise((resolve) => setImmediate(resolve));
      else await sleep(everyMs, undefined, { signal });
      signal.throwIfAborted();
      const until = Math.min(tokens, sent + burst);
      for (; sent < until; sent += 1) output.text(token(order, sent));
    }
    const usage = { requestCount: 1, inputTokens: 20, cachedTokens: 0, outputTokens: tokens, reasoningTokens: 0 };
    return { usage };
  },
};
