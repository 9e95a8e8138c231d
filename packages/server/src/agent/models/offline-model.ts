import { setTimeout as sleep } from 'node:timers/promises';
import { estimateTokens, type Usage } from '../../domain/usage.ts';
import { type Model, type ModelOutput, type ModelRequest, type ModelResult, RunFailure } from '../ports.ts';
import { promptBytes } from '../progress.ts';

const WORD_MS = 15;
const MAX_SLOW_SECONDS = 600;

/** Words at the start of a message that this version of the offline model does not act on. */
const NOT_YET: ReadonlySet<string> = new Set(['/tool', '/read']);

/** Answers without a provider, so that a newcomer sees each behaviour: a stream, a slow one, a failing one. */
export const offlineModel: Model = {
  id: 'offline/demo',

  async call(request: ModelRequest, output: ModelOutput, signal: AbortSignal): Promise<ModelResult> {
    const message = request.prompt.findLast((item) => item.kind === 'user')?.text ?? '';
    const [word = '', argument = ''] = message.trim().split(/\s+/, 2);
    let said = '';
    const say = (text: string) => {
      said += text;
      output.text(text);
    };
    if (word === '/fail') {
      say('This is the offline model, about to fail.');
      throw new RunFailure('model_error', 'The offline model failed because the message began with /fail.');
    }
    const seconds = word === '/slow' ? slowSeconds(argument) : null;
    const words = answer(word, message, seconds).split(/(?<= )/);
    const pauseMs = seconds === null ? WORD_MS : (seconds * 1000) / Math.max(1, words.length - 1);
    for (const [index, part] of words.entries()) {
      if (index > 0) await sleep(pauseMs, undefined, { signal });
      signal.throwIfAborted();
      say(part);
    }
    return { usage: usageOf(request, said) };
  },
};

function slowSeconds(argument: string): number | null {
  const seconds = Number(argument);
  return argument !== '' && Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, MAX_SLOW_SECONDS) : null;
}

function answer(word: string, message: string, seconds: number | null): string {
  if (word === '/slow') {
    return seconds === null
      ? 'Say how many seconds the answer is to take, for example /slow 10.'
      : `This answer takes ${seconds} seconds: the first word came at once, and the rest comes evenly until the time is over.`;
  }
  if (NOT_YET.has(word)) return `The offline model does not know ${word} in this version.`;
  return `This is the offline demo model: no provider was asked. You said: ${message}`;
}

/** "its tokens are bytes / 4, rounded up" */
function usageOf(request: ModelRequest, said: string): Usage {
  return {
    requestCount: 1,
    inputTokens: estimateTokens(promptBytes(request.instructions, request.prompt)),
    cachedTokens: 0,
    outputTokens: estimateTokens(Buffer.byteLength(said)),
    reasoningTokens: 0,
  };
}
