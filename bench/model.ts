import type { Model, ModelOutput, ModelRequest, ModelResult } from '../packages/server/src/agent/ports.ts';

/*
 * The model of both servers, in their own process. What it says is ordered in the message, `/say TOKENS BURST`: that
 * many tokens, BURST of them in one turn of the event loop, each turn by a `setImmediate` of its own. So both servers
 * get the same tokens at the same pace, as fast as they can take them; neither sees tokens of one answer together that
 * the other sees apart. With BURST 1 every token costs a write, as from a provider that sends them one by one; with
 * more, the writes are shared and what is left is the work on each token.
 */

const WORDS = 'the road from a question to its answer is short when nothing on it waits for somebody else to speak';
export const TOKENS = WORDS.split(/(?= )/);

export interface Order {
  readonly tokens: number;
  readonly burst: number;
}

export function orderText(order: Order): string {
  return `/say ${order.tokens} ${order.burst} words about the shortest road there is, please`;
}

export function readOrder(text: string): Order {
  const [, tokens, burst] = text.split(' ', 3);
  const order = { tokens: Number(tokens), burst: Number(burst) };
  if (!(order.tokens > 0 && order.burst > 0)) throw new Error(`Not an order to the benchmark's model: ${text}`);
  return order;
}

export function expectedText(tokens: number): string {
  let text = '';
  for (let i = 0; i < tokens; i += 1) text += TOKENS[i % TOKENS.length];
  return text;
}

export const benchModel: Model = {
  id: 'bench/scripted',

  call(request: ModelRequest, output: ModelOutput, signal: AbortSignal): Promise<ModelResult> {
    const last = request.prompt.at(-1);
    const { tokens, burst } = readOrder(last?.kind === 'user' ? last.text : '');
    return new Promise((resolve, reject) => {
      let said = 0;
      const turn = () => {
        if (signal.aborted) return reject(signal.reason);
        const until = Math.min(tokens, said + burst);
        for (; said < until; said += 1) output.text(TOKENS[said % TOKENS.length] as string);
        if (said < tokens) return void setImmediate(turn);
        const usage = { requestCount: 1, inputTokens: 20, cachedTokens: 0, outputTokens: tokens, reasoningTokens: 0 };
        resolve({ usage });
      };
      setImmediate(turn);
    });
  },
};
