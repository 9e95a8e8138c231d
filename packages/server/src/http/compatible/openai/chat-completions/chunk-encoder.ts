import { lastFrameId, type RunEvent } from '../../../../domain/run/events.ts';
import type { EncodedPage, Encoder } from '../../../encoders/encoder.ts';
import { SSE_HEADERS } from '../../event-encoder.ts';
import {
  approvalText,
  completionHead,
  type FinishReason,
  finishReason,
  restartedError,
  runError,
  toolCallJson,
  usageJson,
} from './completion-json.ts';

const DONE = 'data: [DONE]\n\n';

export interface ChunkOptions {
  readonly includeUsage: boolean;
  /**
   * True if the answer is JSON after a schema. Then it is sent whole at the end: the model's wrong try is repaired, and a
   * client cannot take it back.
   */
  readonly isStructured: boolean;
}

/** A completion in chunks. It always begins at the run's first event, and each reader has its own. */
export class ChunkEncoder implements Encoder {
  readonly headers = SSE_HEADERS;
  readonly heartbeat = ': \n\n';
  readonly #options: ChunkOptions;
  /** Every chunk's text before its `choices`. */
  #head = '';
  #runId = '';
  /** The last frame from which the client has something. If it becomes void, the answer cannot be continued. */
  #lastSentId = 0;
  #toolCalls = 0;
  #hasText = false;
  /** A surrogate pair's first half, until the second half arrives. Alone some clients cannot decode it. */
  #half = '';

  constructor(options: ChunkOptions) {
    this.#options = options;
  }

  page(events: readonly RunEvent[], from: number, cursor: number, maxChars: number): EncodedPage {
    let data = '';
    let last = cursor;
    let next = from;
    for (; next < events.length && data.length <= maxChars; next += 1) {
      const event = events[next] as RunEvent;
      last = lastFrameId(event);
      if (event.type === 'resumed' && this.#lastSentId > event.discardAfter) {
        const error = `data: ${JSON.stringify(restartedError(this.#runId))}\n\n`;
        return { data: data + error + DONE, next: next + 1, cursor: last, breaksOff: false, ends: true };
      }
      data += this.#encode(event);
    }
    return { data, next, cursor: last, breaksOff: false };
  }

  #encode(event: RunEvent): string {
    switch (event.type) {
      case 'meta': {
        this.#runId = event.meta.runId;
        this.#head = `data: ${JSON.stringify(completionHead(event.meta, 'chat.completion.chunk')).slice(0, -1)}`;
        return this.#chunk('{"role":"assistant","content":""}');
      }
      case 'delta':
        return this.#delta(event);
      case 'run_item':
        if (event.item.kind !== 'question' || event.name !== 'client_tool_requested') return '';
        this.#lastSentId = event.id;
        this.#toolCalls += 1;
        return this.#chunk(
          JSON.stringify({ tool_calls: [{ index: this.#toolCalls - 1, ...toolCallJson(event.item) }] }),
        );
      case 'messages':
        return this.#finish(event);
      case 'end':
        return DONE;
      default:
        return '';
    }
  }

  #delta({ item, text, id }: Extract<RunEvent, { readonly type: 'delta' }>): string {
    if (item.callerAgent !== null || item.kind === 'tool_call') return '';
    if (item.kind === 'reasoning') {
      this.#lastSentId = id;
      return this.#chunk(`{"reasoning_content":${JSON.stringify(text)}}`);
    }
    if (this.#options.isStructured) return '';
    this.#lastSentId = id;
    const all = this.#half + text;
    const isHalf = /[\ud800-\udbff]$/.test(all);
    this.#half = isHalf ? all.slice(-1) : '';
    return this.#content(isHalf ? all.slice(0, -1) : all);
  }

  #content(text: string): string {
    if (text === '') return '';
    this.#hasText = true;
    return this.#chunk(`{"content":${JSON.stringify(text)}}`);
  }

  #finish(event: Extract<RunEvent, { readonly type: 'messages' }>): string {
    const error = runError(event);
    if (error !== null) return `data: ${JSON.stringify(error)}\n\n`;
    const { isStructured, includeUsage } = this.#options;
    let data = '';
    if (isStructured && (event.output ?? null) !== null) data += this.#content(JSON.stringify(event.output));
    const approval = approvalText(event.pending ?? []);
    if (approval !== '') data += this.#content(this.#hasText ? `\n\n${approval}` : approval);
    data += this.#chunk('{}', finishReason(event));
    if (includeUsage) data += `${this.#head},"choices":[],"usage":${JSON.stringify(usageJson(event.usage))}}\n\n`;
    return data;
  }

  #chunk(delta: string, reason: FinishReason | null = null): string {
    const usage = this.#options.includeUsage ? ',"usage":null' : '';
    const choice = `{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${JSON.stringify(reason)}}`;
    return `${this.#head},"choices":[${choice}]${usage}}\n\n`;
  }
}
