import type { Usage } from '../../domain/usage.ts';
import type { ModelOutput } from '../ports.ts';
import type { EventReader } from './openai-transport.ts';
import {
  failureOfEvent,
  invalidAnswer,
  isObject,
  type JsonObject,
  type ProviderTarget,
  parsed,
} from './provider-failure.ts';
import { reportedUsage, type UsageNames } from './reported-usage.ts';

/** The common part of both protocols: it parses events as JSON objects, checks texts and turns errors into failures. */
export abstract class ProtocolReader implements EventReader {
  readonly #target: ProviderTarget;
  readonly #usageNames: UsageNames;
  protected readonly output: ModelOutput;
  hasOutput = false;
  usage: Usage | null = null;

  constructor(target: ProviderTarget, output: ModelOutput, usageNames: UsageNames) {
    this.#target = target;
    this.output = output;
    this.#usageNames = usageNames;
  }

  event(data: string): boolean {
    if (data === '') return false;
    if (data === '[DONE]') return this.done();
    const event = parsed(data);
    if (!isObject(event)) throw invalidAnswer('an event that is not a JSON object');
    return this.take(event);
  }

  /** Called at `[DONE]`. Returns true if the answer is complete. */
  protected abstract done(): boolean;

  /** Returns true if this was the last event. */
  protected abstract take(event: JsonObject): boolean;

  abstract end(): boolean;

  /** Throws the failure for an error event of the provider. */
  protected fail(event: JsonObject): never {
    throw failureOfEvent(this.#target, event);
  }

  protected say(text: unknown): void {
    if (typeof text !== 'string') throw invalidAnswer('a text delta that is not a string');
    if (text === '') return;
    this.hasOutput = true;
    this.output.text(text);
  }

  protected think(text: unknown): void {
    if (typeof text !== 'string') throw invalidAnswer('a reasoning delta that is not a string');
    if (text === '') return;
    this.hasOutput = true;
    this.output.reasoning(text);
  }

  protected call(callId: string, name: unknown, argumentsText: unknown): void {
    if (typeof name !== 'string' || name === '') throw invalidAnswer('a tool call without a name');
    this.hasOutput = true;
    this.output.toolCall(callId, name, typeof argumentsText === 'string' ? argumentsText : '');
  }

  protected report(usage: unknown): void {
    this.usage = reportedUsage(usage, this.#usageNames);
    if (this.usage !== null) this.output.usage(this.usage);
  }
}
