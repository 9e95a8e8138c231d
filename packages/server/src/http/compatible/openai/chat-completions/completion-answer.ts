import type { Meta, RunEvent } from '../../../../domain/run/events.ts';
import type { EndOfRun } from '../../end-of-run.ts';
import { PlainAnswer } from '../../plain-answer.ts';
import { SHOULD_RETRY } from '../openai-api.ts';
import {
  approvalText,
  completionHead,
  type FinishReason,
  finishReason,
  runError,
  type ToolCallJson,
  toolCallJson,
  usageJson,
} from './completion-json.ts';

/** One item's text. */
interface Piece {
  readonly itemId: string;
  /** The event with which it began. */
  readonly since: number;
  readonly kind: 'content' | 'reasoning';
  text: string;
}

/** A completion as one object, after the run's end. */
export class CompletionAnswer extends PlainAnswer {
  // A run that failed is an answer too: the same request again would be another run.
  override readonly headers: Readonly<Record<string, string>> = {
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'content-type': 'application/json; charset=utf-8',
    [SHOULD_RETRY]: 'false',
  };
  readonly #cancel: () => void;
  #meta: Meta | null = null;
  #end: EndOfRun | null = null;
  #pieces: Piece[] = [];
  #calls: { readonly id: number; readonly json: ToolCallJson }[] = [];

  /** `cancel` cancels the run: a client that gives up would post the request again. */
  constructor(cancel: () => void) {
    super();
    this.#cancel = cancel;
  }

  protected note(event: RunEvent): boolean {
    switch (event.type) {
      case 'meta':
        this.#meta = event.meta;
        break;
      case 'delta': {
        const { item, text, id } = event;
        if (item.callerAgent !== null || item.kind === 'tool_call') break;
        const last = this.#pieces.at(-1);
        if (last?.itemId === item.id) last.text += text;
        else
          this.#pieces.push({
            itemId: item.id,
            since: id,
            kind: item.kind === 'message' ? 'content' : 'reasoning',
            text,
          });
        break;
      }
      case 'run_item':
        if (event.item.kind === 'question' && event.name === 'client_tool_requested') {
          this.#calls.push({ id: event.id, json: toolCallJson(event.item) });
        }
        break;
      case 'resumed': {
        const { discardAfter } = event;
        this.#pieces = this.#pieces.filter(({ since }) => since <= discardAfter);
        this.#calls = this.#calls.filter(({ id }) => id <= discardAfter);
        break;
      }
      case 'messages':
        this.#end = event;
    }
    return true;
  }

  protected finished(): string {
    const end = this.#end as EndOfRun;
    const error = runError(end);
    return error === null ? this.#json(finishReason(end), end) : JSON.stringify(error);
  }

  protected unfinished(): string {
    this.#cancel();
    return this.#json('length', null);
  }

  #json(reason: FinishReason, end: EndOfRun | null): string {
    const output = end?.output ?? null;
    const text = output === null ? this.#text('content') : JSON.stringify(output);
    const content = [text, approvalText(end?.pending ?? [])].filter((one) => one !== '').join('\n\n');
    const reasoning = this.#text('reasoning');
    const calls = this.#calls.map(({ json }) => json);
    const message = {
      role: 'assistant',
      content: content === '' && calls.length > 0 ? null : content,
      refusal: null,
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: reason }];
    const usage = end === null ? {} : { usage: usageJson(end.usage) };
    return JSON.stringify({ ...completionHead(this.#meta as Meta, 'chat.completion'), choices, ...usage });
  }

  #text(kind: Piece['kind']): string {
    return this.#pieces.map((piece) => (piece.kind === kind ? piece.text : '')).join('');
  }
}
