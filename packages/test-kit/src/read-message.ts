import { ModelFailure } from '@runwire/models';
import type { Listener } from '@runwire/models/src/testing/model-conformance.ts';
import type { ModelResult } from '@runwire/server/src/agent/ports.ts';

/** What a client has read of a stream of the Messages protocol. */
export interface ReadMessage {
  /** Texts, thinking and calls in their order; neighbours of one kind are joined. */
  shown: (readonly string[])[];
  /** The thinking as it is sent back: text and signature, or the redacted data. */
  thinking: (readonly string[])[];
  /** Input, cached, output and thinking tokens. */
  usage: readonly number[] | null;
  /** The reason that the provider gave, `complete` for a normal end, `error` for an error or an incomplete stream. */
  stop: string;
}

/** Adds a part to what is shown. Thinking in several blocks has several paragraphs. */
export function show(shown: (readonly string[])[], kind: string, text: string, between = ''): void {
  const last = shown.at(-1);
  if (text === '') return;
  if (last?.[0] === kind) shown[shown.length - 1] = [kind, `${last[1]}${between}${text}`];
  else shown.push([kind, text]);
}

/** The stop reasons of answers that are failures, by the sentences that tell them. */
const FAILED = {
  max_tokens: /reached its token limit/,
  refusal: /refused to answer/,
  model_context_window_exceeded: /context window/,
};

/** Reads what one of our models has passed on. */
export async function readByModel(output: Listener, done: Promise<ModelResult>): Promise<ReadMessage> {
  const read: ReadMessage = { shown: [], thinking: [], usage: null, stop: 'complete' };
  const result = await done.catch((error: Error) => {
    if (!(error instanceof ModelFailure)) throw error;
    read.stop = Object.entries(FAILED).find(([, sentence]) => sentence.test(error.message))?.[0] ?? 'error';
    return null;
  });
  for (const [kind, ...texts] of output.heard) {
    if (kind === 'call') read.shown.push([kind, ...texts.map(String)]);
    else show(read.shown, kind === 'reasoning' ? 'thinking' : kind, texts[0] ?? '');
  }
  for (const part of (output.replays[0]?.body ?? []) as readonly ReplayedPart[]) {
    const { signature, redactedData } = part.providerOptions?.anthropic ?? {};
    if (part.type === 'thinking') read.thinking.push([part.thinking ?? '', part.signature ?? '']);
    if (part.type === 'redacted_thinking') read.thinking.push([part.data ?? '']);
    if (part.type === 'reasoning')
      read.thinking.push(redactedData ? [redactedData] : [part.text ?? '', signature ?? '']);
  }
  const usage = result?.usage ?? output.reported;
  if (usage) read.usage = [usage.inputTokens, usage.cachedTokens, usage.outputTokens, usage.reasoningTokens];
  return read;
}

/** A part of a replay, of the Messages protocol or of the AI SDK. */
interface ReplayedPart {
  readonly type: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly text?: string;
  readonly providerOptions?: { readonly anthropic?: { readonly signature?: string; readonly redactedData?: string } };
}

/** Arguments that the model wrote in another form mean the same. Those of a failed answer count for nothing. */
export function comparable({ shown, thinking, usage, stop }: ReadMessage, isReplayed: boolean) {
  const isWhole = stop === 'complete';
  const counted = shown.filter(([kind]) => isWhole || kind !== 'call');
  const parts = counted.map(([kind = '', ...texts]) =>
    kind === 'call' ? [kind, texts[0], texts[1], JSON.parse(texts[2] ?? '')] : [kind, ...texts],
  );
  return { shown: parts, thinking: isReplayed ? thinking : [], usage, stop };
}
