import { lastFrameId, type MessageItem, type ReasoningItem, type RunEvent } from '../../../../domain/run/events.ts';
import type { EncodedPage, Encoder } from '../../../encoders/encoder.ts';
import { PageBytes } from '../../../encoders/page-bytes.ts';
import { textJson } from '../../../encoders/responses-json.ts';
import { SSE_HEADERS } from '../../event-encoder.ts';
import {
  isShown,
  type OutputEntry,
  openJson,
  type ResponseContext,
  ResponseOutput,
  readEvent,
  readRunItem,
} from './response-output.ts';

/*
 * One response for all steps of a run. `sequence_number` is 2 · frame id + 0 or 1, so no frame makes more than two events, and
 * every node gives an event the same number:
 *
 *   meta            response.created, response.in_progress
 *   item_added      output_item.added | content_part.added (message: two frames)
 *                   output_item.added, reasoning_summary_part.added (reasoning)
 *   delta           output_text.delta, or reasoning_summary_text.delta
 *   item_done       output_text.done | content_part.done | output_item.done (message: three frames)
 *                   reasoning_summary_text.done, reasoning_summary_part.done | output_item.done (reasoning: two frames)
 *   run_item        output_item.added, output_item.done: a call, whole, when it is known what it is
 *   resumed         output_item.done of the item that was open; void items that this reader has not seen, with the deleted frames' ids
 *   messages        output_item.done of an item that was cut short, and the terminal event
 *   end             [DONE]
 */

/** One page's memory, which its reader's socket has taken before the next page is made. */
const bytes = new PageBytes();

type TextItem = MessageItem | ReasoningItem;

/** Texts that all events of one item share. */
interface ItemHeads {
  readonly entry: OutputEntry;
  readonly position: string;
  readonly delta: string;
}

const TERMINAL = {
  completed: 'response.completed',
  failed: 'response.failed',
  cancelled: 'response.incomplete',
  in_progress: 'response.in_progress',
} as const;

export class ResponsesEncoder implements Encoder {
  readonly headers = SSE_HEADERS;
  readonly heartbeat = ': \n\n';
  readonly #output: ResponseOutput;
  /** Events up to this number are not sent: the reader has them. */
  readonly #after: number;
  #heads: ItemHeads | null = null;

  constructor(context: ResponseContext, after = -1) {
    this.#output = new ResponseOutput(context);
    this.#after = after;
  }

  page(events: readonly RunEvent[], from: number, cursor: number, maxBytes: number): EncodedPage {
    bytes.clear();
    let next = from;
    let last = cursor;
    let breaksOff = false;
    for (; next < events.length && bytes.length <= maxBytes && !breaksOff; next += 1) {
      const event = events[next] as RunEvent;
      breaksOff = !this.#encode(event);
      last = lastFrameId(event);
    }
    return { data: bytes.length === 0 ? '' : bytes, next, cursor: last, breaksOff };
  }

  /** Returns false if the framing has no event for what has happened. */
  #encode(event: RunEvent): boolean {
    const { id } = event;
    switch (event.type) {
      case 'delta':
        this.#delta(event.item.id, event.text, id);
        return true;
      case 'meta': {
        readEvent(this.#output, event);
        const { json } = this.#output;
        this.#response('response.created', json, 2 * id);
        this.#response('response.in_progress', json, 2 * id + 1);
        return true;
      }
      case 'item_added':
        if (event.item.kind !== 'tool_call' && isShown(event.item)) this.#added(event.item, id);
        return true;
      case 'item_done':
        if (event.item.kind === 'tool_call') this.#output.call(event.item);
        else if (this.#heads?.entry.item?.id === event.item.id) this.#done(event.item, id);
        return true;
      case 'run_item': {
        const entry = readRunItem(this.#output, event);
        if (entry !== null) this.#whole(entry, id);
        return true;
      }
      case 'resumed': {
        const seen = Math.floor(this.#after / 2);
        if (seen > event.discardAfter && seen < id) return false;
        this.#cutShort(2 * id);
        this.#addVoid(event);
        this.#output.discard(event.discardAfter);
        return true;
      }
      case 'messages': {
        const isOpen = this.#cutShort(2 * id);
        this.#output.finish(event);
        this.#response(TERMINAL[event.status], this.#output.json, 2 * id + (isOpen ? 1 : 0));
        return true;
      }
      case 'end':
        bytes.text('data: [DONE]\n\n');
        return true;
      default:
        return true;
    }
  }

  /** Returns false if the reader has the event already. Otherwise it is begun, and its members and `#end` follow. */
  #begin(type: string, sequence: number): boolean {
    if (sequence <= this.#after) return false;
    bytes.text('event: ').text(type).text('\ndata: {"type":"').text(type).text('",');
    return true;
  }

  #end(sequence: number): void {
    bytes.text(',"sequence_number":').number(sequence).text('}\n\n');
  }

  #response(type: string, json: string, sequence: number): void {
    if (!this.#begin(type, sequence)) return;
    bytes.text('"response":').text(json);
    this.#end(sequence);
  }

  #item(type: 'added' | 'done', index: number, json: string, sequence: number): void {
    if (!this.#begin(`response.output_item.${type}`, sequence)) return;
    bytes.text('"output_index":').number(index).text(',"item":').text(json);
    this.#end(sequence);
  }

  /** An event about the only part of an item; `rest` are its members after the position. */
  #part(type: string, rest: string, sequence: number): void {
    if (this.#heads === null || !this.#begin(type, sequence)) return;
    bytes.text(this.#heads.position).text(rest);
    this.#end(sequence);
  }

  #added(item: TextItem, id: number): void {
    const entry = this.#output.add(item, id);
    const isMessage = item.kind === 'message';
    const at = `"item_id":"${item.id}","output_index":${entry.index},`;
    const position = at + (isMessage ? '"content_index":0' : '"summary_index":0');
    const type = isMessage ? 'response.output_text.delta' : 'response.reasoning_summary_text.delta';
    const more = isMessage ? ',"logprobs":[]' : '';
    const delta = `event: ${type}\ndata: {"type":"${type}",${position}${more},"delta":`;
    this.#heads = { entry, position, delta };
    const begun = isMessage ? '"status":"in_progress","role":"assistant","content":[]' : '"summary":[]';
    this.#item('added', entry.index, `{"type":"${item.kind}","id":"${item.id}",${begun}}`, 2 * id);
    if (isMessage) this.#part('response.content_part.added', `,"part":${textPart('""')}`, 2 * id + 2);
    else this.#part('response.reasoning_summary_part.added', `,"part":${summaryPart('""')}`, 2 * id + 1);
  }

  #delta(itemId: string, text: string, id: number): void {
    const heads = this.#heads;
    if (heads === null || heads.entry.item?.id !== itemId) return;
    heads.entry.text += text;
    if (2 * id <= this.#after) return;
    bytes.text(heads.delta).json(text);
    this.#end(2 * id);
  }

  #done(item: TextItem, id: number): void {
    if (!item.complete) {
      // It was abandoned in a run that continues without it. Its frames are those of a whole item.
      this.#cutShort(2 * id);
      return;
    }
    const text = textJson(item);
    if (item.kind === 'message') {
      this.#part('response.output_text.done', `,"logprobs":[],"text":${text}`, 2 * id);
      this.#part('response.content_part.done', `,"part":${textPart(text)}`, 2 * id + 2);
    } else {
      this.#part('response.reasoning_summary_text.done', `,"text":${text}`, 2 * id);
      this.#part('response.reasoning_summary_part.done', `,"part":${summaryPart(text)}`, 2 * id + 1);
    }
    const { index } = (this.#heads as ItemHeads).entry;
    this.#heads = null;
    this.#item('done', index, this.#output.close(item), 2 * lastFrameId({ type: 'item_done', item, id }));
  }

  #whole({ index, json }: OutputEntry, id: number): void {
    this.#item('added', index, json ?? '', 2 * id);
    this.#item('done', index, json ?? '', 2 * id + 1);
  }

  /**
   * Items that other readers have seen and whose events are deleted: empty ones are sent instead, so that `output_index` is
   * the same for every reader. Their numbers are those of the deleted events.
   */
  #addVoid({ discardAfter, voidOutputs = [] }: Extract<RunEvent, { type: 'resumed' }>): void {
    for (const [position, { id, kind }] of voidOutputs.entries()) {
      const entry = this.#output.addVoid(id, kind, discardAfter + 1 + position);
      if (entry === null) continue;
      this.#item('added', entry.index, openJson(entry), 2 * entry.since);
      this.#item('done', entry.index, entry.json ?? '', 2 * entry.since + 1);
    }
  }

  /** Ends the item that is open, if there is one. */
  #cutShort(sequence: number): boolean {
    if (this.#heads === null) return false;
    const { index } = this.#heads.entry;
    this.#heads = null;
    this.#item('done', index, this.#output.close(null), sequence);
    return true;
  }
}

const textPart = (text: string) => `{"type":"output_text","text":${text},"annotations":[]}`;
const summaryPart = (text: string) => `{"type":"summary_text","text":${text}}`;
