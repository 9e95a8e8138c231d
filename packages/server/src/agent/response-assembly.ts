import type { MessageItem, OutputItem, ReasoningItem, ResponseRef, RunEventBody } from '../domain/events.ts';
import { newId } from '../domain/ids.ts';
import type { Usage } from '../domain/usage.ts';
import type { ModelOutput } from './ports.ts';
import type { Progress } from './progress.ts';

/** Turns what a model says, piece by piece, into the items and events of one response. */
export class ResponseAssembly implements ModelOutput {
  readonly output: OutputItem[] = [];
  readonly #response: ResponseRef;
  readonly #progress: Progress;
  readonly #emit: (event: RunEventBody) => void;
  readonly #calledAt = performance.now();
  #open: MessageItem | ReasoningItem | null = null;
  reportedUsage: Usage | null = null;

  constructor(model: string, agent: string, progress: Progress, emit: (event: RunEventBody) => void) {
    this.#response = { id: newId('resp'), model, agent, callerAgent: null };
    this.#progress = progress;
    this.#emit = emit;
    emit({ type: 'response_created', response: this.#response });
  }

  get outputBytes(): number {
    return this.output.reduce((sum, item) => sum + Buffer.byteLength(item.text), 0);
  }

  text(text: string): void {
    const item = this.#open?.kind === 'message' ? this.#open : this.#begin('message');
    item.text += text;
    this.#emit({ type: 'delta', item, text });
  }

  reasoning(text: string): void {
    const item = this.#open?.kind === 'reasoning' ? this.#open : this.#begin('reasoning');
    item.text += text;
    this.#emit({ type: 'delta', item, text });
  }

  toolCall(callId: string, name: string, argumentsText: string): void {
    this.#close();
    const item: OutputItem = {
      kind: 'tool_call',
      id: newId('fc'),
      agent: this.#response.agent,
      callerAgent: this.#response.callerAgent,
      outputIndex: this.output.length,
      callId: this.#progress.callId(callId),
      name,
      text: '',
      complete: false,
      timestamp: this.#progress.timestamp(),
    };
    this.#keep(item);
    item.text = argumentsText;
    this.#emit({ type: 'delta', item, text: argumentsText });
    item.complete = true;
    this.#emit({ type: 'item_done', item });
  }

  usage(usage: Usage): void {
    this.reportedUsage = usage;
  }

  /** The response is whole. */
  finish(usage: Usage): void {
    this.#close();
    this.#emit({ type: 'response_done', response: this.#response, output: this.output, usage });
    for (const item of this.output) {
      const name =
        item.kind === 'message'
          ? 'message_output_created'
          : item.kind === 'tool_call'
            ? 'tool_called'
            : 'reasoning_item_created';
      this.#emit({ type: 'run_item', name, item });
    }
  }

  #begin(kind: 'message' | 'reasoning'): MessageItem | ReasoningItem {
    this.#close();
    const item: MessageItem | ReasoningItem = {
      kind,
      id: newId(kind === 'message' ? 'msg' : 'rs'),
      agent: this.#response.agent,
      callerAgent: this.#response.callerAgent,
      outputIndex: this.output.length,
      text: '',
      complete: false,
      timestamp: this.#progress.timestamp(),
    };
    this.#open = item;
    this.#keep(item);
    return item;
  }

  #keep(item: OutputItem): void {
    if (this.output.length === 0) {
      this.#progress.onFirstOutput?.(performance.now() - this.#calledAt, this.#response.model);
    }
    this.output.push(item);
    this.#progress.items.push(item);
    this.#emit({ type: 'item_added', item });
  }

  #close(): void {
    const item = this.#open;
    if (item === null) return;
    this.#open = null;
    item.complete = true;
    this.#emit({ type: 'item_done', item });
  }
}
