import { isBlank } from '@runwire/lib/is-blank.ts';
import type { ModelOutput } from './model.ts';
import { newCallId } from './new-call-id.ts';
import { ProtocolReader } from './protocol-reader.ts';
import {
  isObject,
  type JsonObject,
  type ProviderTarget,
  parsed,
  refusedAnswer,
  truncatedAnswer,
} from './provider-failure.ts';
import { tokens } from './reported-usage.ts';
import type { Usage } from './usage.ts';

/*
 * Answers of the Messages protocol of Anthropic. A message has blocks (text, thinking, tool_use and others). Each block
 * starts, grows by deltas and stops. `message_delta` contains the stop reason and the usage, `message_stop` is last.
 */

/** Counters are cumulative. An event has no counter, or null, if the counter does not apply. */
const COUNTERS = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'] as const;

/** Stop reasons of complete answers. */
const COMPLETE: ReadonlySet<string> = new Set(['end_turn', 'stop_sequence', 'tool_use']);

/** Sent at any time, to show that the connection is alive. */
const PING = '{"type": "ping"}';

/** A block as it started, with its deltas' text. */
interface Block {
  readonly start: JsonObject;
  text: string;
  signature: string;
  citations: unknown[];
  isOpen: boolean;
}

/** Converts the events of a message to output of the model. Throws a `ProviderFailure` if there is no answer. */
export class MessagesReader extends ProtocolReader {
  readonly #target: ProviderTarget;
  readonly #blocks = new Map<number, Block>();
  #counters: JsonObject | null = null;
  #stopDetails: unknown = null;
  #hasUnknownDelta = false;
  #thinkingAt: Block | null = null;
  /** The block of the last text delta. */
  #textBlock: Block | null = null;

  constructor(target: ProviderTarget, output: ModelOutput) {
    super(target, output);
    this.#target = target;
  }

  /** True if the provider paused the turn. Send the content back, and the model continues. */
  get isPaused(): boolean {
    return this.finishReason === 'pause_turn';
  }

  /** The message's content as the provider wants it back. Null if a part of it was not understood. */
  get content(): JsonObject[] | null {
    if (this.#hasUnknownDelta) return null;
    const content: JsonObject[] = [];
    for (const block of this.#blocks.values()) {
      const made = toContent(block);
      if (made === null) return null;
      // The provider refuses blank texts, also its own.
      if (made.type !== 'text' || !isBlank(block.text)) content.push(made);
    }
    return content;
  }

  override readonly deltaKey = 'text';

  override repeat(text: string): void {
    if (this.#textBlock !== null) this.#grow(this.#textBlock, text);
  }

  protected override isUnused(data: string): boolean {
    return data === PING;
  }

  protected override done(): boolean {
    return false;
  }

  protected override take(event: JsonObject): boolean {
    switch (event.type) {
      case 'message_start':
        this.#start(event.message);
        return false;
      case 'content_block_start':
        if (this.#counters !== null) this.#startBlock(event.index, event.content_block);
        return false;
      case 'content_block_delta':
        this.#delta(event.index, event.delta);
        return false;
      case 'content_block_stop':
        this.#stopBlock(this.#block(event.index));
        return false;
      case 'message_delta':
        this.#messageDelta(event);
        return false;
      case 'message_stop':
        return this.#stop();
      case 'error':
        return this.fail(event);
    }
    if (typeof event.type === 'string' && !event.type.startsWith('response.')) return false;
    if (event.type === undefined && event.error !== undefined) this.fail(event);
    throw this.invalid('events of another protocol');
  }

  /** Only the last event completes a message. */
  override end(): boolean {
    return false;
  }

  #start(message: unknown): void {
    if (this.#counters !== null) throw this.invalid('a second message in one answer');
    if (!isObject(message)) throw this.invalid('a message that is not valid');
    if (typeof message.id === 'string') this.responseId = message.id;
    this.#counters = isObject(message.usage) ? message.usage : {};
    const usage = toUsage(this.#counters);
    // The output is not known yet.
    if (usage !== null) this.output.inputUsage({ inputTokens: usage.inputTokens, cachedTokens: usage.cachedTokens });
  }

  #block(index: unknown): Block | undefined {
    return typeof index === 'number' ? this.#blocks.get(index) : undefined;
  }

  #startBlock(index: unknown, start: unknown): void {
    if (typeof index !== 'number' || !isObject(start)) throw this.invalid('a block that is not valid');
    const block: Block = { start, text: '', signature: '', citations: [], isOpen: true };
    this.#blocks.set(index, block);
    if (start.type === 'text') this.#grow(block, start.text ?? '');
    if (start.type === 'thinking') {
      this.#grow(block, start.thinking ?? '');
      if (typeof start.signature === 'string') block.signature = start.signature;
    }
    if (Array.isArray(start.citations)) block.citations = start.citations;
  }

  #delta(index: unknown, delta: unknown): void {
    const block = this.#block(index);
    if (block === undefined || !isObject(delta)) return;
    const { type } = block.start;
    if (delta.type === 'text_delta' && type === 'text') {
      this.#grow(block, delta.text);
      this.#textBlock = block;
      this.plainDelta = delta.text as string;
    } else if (delta.type === 'thinking_delta' && type === 'thinking') this.#grow(block, delta.thinking);
    else if (delta.type === 'signature_delta' && type === 'thinking') {
      if (typeof delta.signature === 'string') block.signature = delta.signature;
    } else if (delta.type === 'input_json_delta' && hasInput(block)) {
      if (typeof delta.partial_json !== 'string') throw this.invalid('a tool call that is not valid');
      block.text += delta.partial_json;
      if (type === 'tool_use') this.output.argumentsPiece(delta.partial_json);
    } else if (delta.type === 'citations_delta' && type === 'text') block.citations.push(delta.citation);
    else this.#hasUnknownDelta = true;
  }

  #grow(block: Block, text: unknown): void {
    if (block.start.type === 'text') this.say(text);
    else {
      // Thinking in several blocks has several paragraphs.
      const isNext = this.#thinkingAt !== null && this.#thinkingAt !== block;
      this.think(isNext && typeof text === 'string' && text !== '' ? `\n\n${text}` : text);
    }
    if (text === '') return;
    this.#thinkingAt = block.start.type === 'text' ? null : block;
    block.text += text;
  }

  #stopBlock(block: Block | undefined): void {
    if (block === undefined || !block.isOpen) return;
    block.isOpen = false;
    if (block.start.type !== 'tool_use') return;
    this.#thinkingAt = null;
    const { id, name, input } = block.start;
    const argumentsText = block.text === '' ? JSON.stringify(input ?? {}) : block.text;
    this.call(typeof id === 'string' && id !== '' ? id : newCallId(), name, argumentsText);
  }

  #messageDelta({ delta, usage }: JsonObject): void {
    if (this.#counters === null) return;
    if (isObject(delta)) {
      if (typeof delta.stop_reason === 'string') this.finishReason = delta.stop_reason;
      this.#stopDetails = delta.stop_details;
    }
    if (!isObject(usage)) return;
    const told = Object.entries(usage).filter(([, value]) => value !== null && value !== undefined);
    this.#counters = { ...this.#counters, ...Object.fromEntries(told) };
    this.report(this.#counters);
  }

  #stop(): boolean {
    if (this.#counters === null) throw this.invalid('an answer without a start');
    for (const block of this.#blocks.values()) this.#stopBlock(block);
    const reason = this.finishReason;
    if (reason === null) throw this.invalid('an answer without a stop reason');
    if (reason === 'refusal') throw refusedAnswer(this.#target, toRefusal(this.#stopDetails));
    if (!COMPLETE.has(reason) && !this.isPaused) throw truncatedAnswer(reason);
    return true;
  }

  protected override readUsage(value: unknown): Usage | null {
    return toUsage(value);
  }
}

/** The provider's own tools have arguments too. */
function hasInput({ start }: Block): boolean {
  return start.type === 'tool_use' || start.type === 'server_tool_use';
}

/** Returns null if the block cannot be sent back: thinking counts only with its signature. */
function toContent(block: Block): JsonObject | null {
  const { start, text, signature, citations } = block;
  if (start.type === 'text') return { ...start, text, ...(citations.length === 0 ? {} : { citations }) };
  if (start.type === 'thinking') return signature === '' ? null : { ...start, thinking: text, signature };
  if (!hasInput(block) || text === '') return start;
  const input = parsed(text);
  return { ...start, input: isObject(input) ? input : {} };
}

function toRefusal(details: unknown): string {
  if (!isObject(details)) return '';
  const { explanation, category } = details;
  return typeof explanation === 'string' && explanation !== ''
    ? explanation
    : typeof category === 'string'
      ? category
      : '';
}

/** The cache's tokens are input too. Returns null if a counter is impossible. */
function toUsage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  const [input = null, created = null, read = null, output = null] = COUNTERS.map((name, index) => {
    const isOptional = index === 1 || index === 2;
    return tokens(value[name] ?? (isOptional ? 0 : null));
  });
  if (input === null || created === null || read === null || output === null) return null;
  const details = value.output_tokens_details;
  const thinking = isObject(details) ? tokens(details.thinking_tokens) : null;
  return {
    requestCount: 1,
    inputTokens: input + created + read,
    cachedTokens: read,
    outputTokens: output,
    reasoningTokens: Math.min(output, thinking ?? 0),
  };
}
