import { isBlank } from '@runwire/lib/is-blank.ts';
import type { ModelOutput } from './model.ts';
import {
  brokenStream,
  failureOfEvent,
  invalidAnswer,
  isObject,
  type JsonObject,
  type ProviderTarget,
  parsed,
  refusedAnswer,
  truncatedAnswer,
} from './provider-failure.ts';
import { tokens } from './reported-usage.ts';
import type { Usage } from './usage.ts';

/** Raw reasons of incomplete answers that the AI SDK reports as a normal or another end. */
const INCOMPLETE: ReadonlySet<unknown> = new Set(['pause_turn', 'compaction']);

/** A text or reasoning that grows. `metadata` arrives with any of its deltas, even with an empty delta. */
interface OpenPart {
  readonly type: 'text' | 'reasoning';
  text: string;
  metadata: JsonObject;
}

/** Converts the parts of a stream of the AI SDK to output of the model. Throws a `ProviderFailure` if there is no answer. */
export class AiSdkReader {
  readonly #target: ProviderTarget;
  readonly #output: ModelOutput;
  readonly #open = new Map<unknown, OpenPart>();
  readonly #parts: (OpenPart | JsonObject)[] = [];
  readonly #providerCalls = new Set<unknown>();
  #thinkingAt: OpenPart | null = null;
  /** True after the first part that the provider caused. */
  hasParts = false;
  hasOutput = false;
  isComplete = false;
  responseId: string | null = null;
  finishReason: string | null = null;
  usage: Usage | null = null;

  constructor(target: ProviderTarget, output: ModelOutput) {
    this.#target = target;
    this.#output = output;
  }

  /** The response's content as the provider wants it back. Null if it wants nothing that the prompt does not have. */
  get content(): JsonObject[] | null {
    const content: JsonObject[] = [];
    for (const part of this.#parts) {
      if (!('metadata' in part)) content.push(part as JsonObject);
      else {
        const { type, text, metadata } = part as OpenPart;
        const hasMetadata = Object.keys(metadata).length > 0;
        // Reasoning without metadata has no signature, so providers ignore it. Providers refuse blank texts.
        if (type === 'reasoning' ? !hasMetadata : isBlank(text)) continue;
        content.push({ type, text, ...(hasMetadata ? { providerOptions: metadata } : {}) });
      }
    }
    return content.some(({ type, providerOptions }) => providerOptions !== undefined || type === 'custom')
      ? content
      : null;
  }

  take(part: unknown): void {
    if (!isObject(part)) throw invalidAnswer(this.#target, 'a part that is not valid');
    if (part.type !== 'stream-start' && part.type !== 'error') this.hasParts = true;
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        this.#grow('text', part);
        return;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#grow('reasoning', part);
        return;
      case 'tool-input-start':
        if (part.providerExecuted === true) this.#providerCalls.add(part.id);
        return;
      case 'tool-input-delta':
        if (typeof part.delta === 'string' && !this.#providerCalls.has(part.id))
          this.#output.argumentsPiece(part.delta);
        return;
      case 'tool-call':
        this.#call(part);
        return;
      case 'tool-result':
        this.#parts.push(
          returned(part, { output: { type: 'json', value: part.result ?? null } }, ['toolCallId', 'toolName']),
        );
        return;
      case 'custom':
        this.#parts.push(returned(part, {}, ['kind']));
        return;
      case 'response-metadata':
        if (typeof part.id === 'string') this.responseId = part.id;
        return;
      case 'finish':
        this.#finish(part);
        return;
      case 'error':
        throw failureOfEvent(this.#target, toError(part.error));
    }
  }

  #grow(type: OpenPart['type'], { id, delta, providerMetadata }: JsonObject): void {
    let part = this.#open.get(`${type}/${id}`);
    if (part === undefined) {
      part = { type, text: '', metadata: {} };
      this.#open.set(`${type}/${id}`, part);
      this.#parts.push(part);
    }
    if (isObject(providerMetadata)) part.metadata = withMetadata(part.metadata, providerMetadata);
    if (delta === undefined || delta === '') return;
    if (typeof delta !== 'string') throw invalidAnswer(this.#target, 'a delta that is not a string');
    part.text += delta;
    this.hasOutput = true;
    if (type === 'text') this.#output.text(delta);
    else {
      // Reasoning in several parts has several paragraphs.
      const isNext = this.#thinkingAt !== null && this.#thinkingAt !== part;
      this.#output.reasoning(isNext ? `\n\n${delta}` : delta);
    }
    this.#thinkingAt = type === 'text' ? null : part;
  }

  #call(part: JsonObject): void {
    const { toolCallId, toolName, input, providerExecuted } = part;
    if (typeof toolName !== 'string' || toolName === '')
      throw invalidAnswer(this.#target, 'a tool call without a name');
    const text = typeof input === 'string' ? input : '';
    const value = parsed(text);
    this.#parts.push(
      returned(
        part,
        { input: isObject(value) ? value : {}, ...(providerExecuted === true ? { providerExecuted } : {}) },
        ['toolCallId', 'toolName'],
      ),
    );
    if (providerExecuted === true) return;
    this.hasOutput = true;
    this.#thinkingAt = null;
    this.#output.toolCall(typeof toolCallId === 'string' ? toolCallId : '', toolName, text === '' ? '{}' : text);
  }

  #finish({ usage, finishReason }: JsonObject): void {
    this.usage = toUsage(usage);
    if (this.usage !== null) this.#output.usage(this.usage);
    const { unified, raw } = isObject(finishReason) ? finishReason : { unified: finishReason, raw: undefined };
    const reason = typeof raw === 'string' ? raw : String(unified);
    this.finishReason = reason;
    if (raw === 'refusal') throw refusedAnswer(this.#target, '');
    if (unified === 'length') throw truncatedAnswer(reason === 'model_context_window_exceeded' ? reason : 'length');
    if (unified === 'content-filter') throw truncatedAnswer('content_filter');
    // The connection ended before the last event.
    if (unified === 'interrupted') throw brokenStream(this.#target, this.hasParts);
    if (unified === 'error' || INCOMPLETE.has(raw)) throw truncatedAnswer(reason);
    const hasCall = this.#parts.some(({ type }) => type === 'tool-call');
    if (unified === 'tool-calls' && !hasCall) throw invalidAnswer(this.#target, 'an answer without its tool call');
    this.isComplete = true;
  }
}

/** A part as it is sent back: metadata of the answer are options of the prompt. */
function returned(part: JsonObject, more: JsonObject, fields: readonly string[]): JsonObject {
  const { type, providerMetadata } = part;
  const kept = Object.fromEntries(fields.map((name) => [name, part[name]]));
  return { type, ...kept, ...more, ...(isObject(providerMetadata) ? { providerOptions: providerMetadata } : {}) };
}

/** Metadata are objects by provider. Later parts add to those of earlier parts. */
function withMetadata(metadata: JsonObject, more: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...metadata };
  for (const [provider, values] of Object.entries(more)) {
    merged[provider] = { ...(isObject(merged[provider]) ? merged[provider] : {}), ...(isObject(values) ? values : {}) };
  }
  return merged;
}

function toError(error: unknown): unknown {
  if (typeof error === 'string') return { message: error };
  return error instanceof Error ? { message: error.message } : error;
}

function toUsage(usage: unknown): Usage | null {
  if (!isObject(usage) || !isObject(usage.inputTokens) || !isObject(usage.outputTokens)) return null;
  const inputTokens = tokens(usage.inputTokens.total);
  const outputTokens = tokens(usage.outputTokens.total);
  if (inputTokens === null || outputTokens === null) return null;
  return {
    requestCount: 1,
    inputTokens,
    cachedTokens: Math.min(inputTokens, tokens(usage.inputTokens.cacheRead) ?? 0),
    outputTokens,
    reasoningTokens: Math.min(outputTokens, tokens(usage.outputTokens.reasoning) ?? 0),
  };
}
