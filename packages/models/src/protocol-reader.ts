import type { EventReader } from './answer-events.ts';
import type { ModelOutput } from './model.ts';
import {
  failureOfEvent,
  invalidAnswer,
  isObject,
  type JsonObject,
  type ProviderFailure,
  type ProviderTarget,
  parsed,
} from './provider-failure.ts';
import type { Usage } from './usage.ts';

/** The common part of all protocols: it parses events as JSON objects, checks texts and turns errors into failures. */
export abstract class ProtocolReader implements EventReader {
  readonly #target: ProviderTarget;
  protected readonly output: ModelOutput;
  hasOutput = false;
  usage: Usage | null = null;
  /** The provider's id of the response, and why it ended. */
  responseId: string | null = null;
  finishReason: string | null = null;
  /** The text with which the model refused to answer. */
  refusal = '';
  /** The last event's text, if the event did nothing but add it. Otherwise null. */
  plainDelta: string | null = null;

  constructor(target: ProviderTarget, output: ModelOutput) {
    this.#target = target;
    this.output = output;
  }

  /** The member of an event that contains a delta's text. */
  abstract readonly deltaKey: string;

  event(data: string): boolean {
    this.plainDelta = null;
    if (data === '' || this.isUnused(data)) return false;
    if (data === '[DONE]') return this.done();
    const event = parsed(data);
    if (!isObject(event)) throw this.invalid('an event that is not a JSON object');
    return this.take(event);
  }

  repeat(text: string): void {
    this.say(text);
  }

  /** True if an event surely contains nothing that this reader uses. It is not parsed. */
  protected isUnused(_data: string): boolean {
    return false;
  }

  /** Called at `[DONE]`. Returns true if the answer is complete. */
  protected abstract done(): boolean;

  /** Returns true if this was the last event. */
  protected abstract take(event: JsonObject): boolean;

  abstract end(): boolean;

  /** Reads the usage that the provider reported. Returns null if it is impossible. */
  protected abstract readUsage(value: unknown): Usage | null;

  protected invalid(what: string): ProviderFailure {
    return invalidAnswer(this.#target, what);
  }

  /** Throws the failure for an error event of the provider. */
  protected fail(event: JsonObject): never {
    throw failureOfEvent(this.#target, event);
  }

  protected say(text: unknown): void {
    if (typeof text !== 'string') throw this.invalid('a text delta that is not a string');
    if (text === '') return;
    this.hasOutput = true;
    this.output.text(text);
  }

  /** A refusal is shown as text. */
  protected refuse(text: unknown): void {
    this.say(text);
    this.refusal += text;
  }

  protected think(text: unknown): void {
    if (typeof text !== 'string') throw this.invalid('a reasoning delta that is not a string');
    if (text === '') return;
    this.hasOutput = true;
    this.output.reasoning(text);
  }

  protected call(callId: string, name: unknown, argumentsText: unknown): void {
    if (typeof name !== 'string' || name === '') throw this.invalid('a tool call without a name');
    this.hasOutput = true;
    this.output.toolCall(callId, name, typeof argumentsText === 'string' ? argumentsText : '');
  }

  protected report(usage: unknown): void {
    this.usage = this.readUsage(usage);
    if (this.usage !== null) this.output.usage(this.usage);
  }
}
