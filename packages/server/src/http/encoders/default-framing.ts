import type { OutputItem, RunEvent } from '../../domain/events.ts';
import { iso } from '../../domain/time.ts';
import { usageJson } from '../../domain/usage.ts';
import { type EncodedPage, type Encoder, STREAM_HEADERS } from './encoder.ts';
import { callerOf, newMessageJson, openItemJson, outputItemJson, responseJson, runItemJson } from './responses-json.ts';

/** Server-sent events that clients of agency-swarm's stream read unchanged. */

function frame(id: number, name: string | null, data: string): string {
  return name === null ? `id: ${id}\ndata: ${data}\n\n` : `id: ${id}\nevent: ${name}\ndata: ${data}\n\n`;
}

interface Speaker {
  readonly agent: string;
  readonly callerAgent: string | null;
}

/** An event of the Responses API; `body` is the JSON text of an object. */
function raw(id: number, { agent, callerAgent }: Speaker, body: string): string {
  const said = `"agent":${JSON.stringify(agent)},"callerAgent":${JSON.stringify(callerAgent)}`;
  const data = `${body.slice(0, -1)},"sequence_number":${id}}`;
  return `id: ${id}\ndata: {"data":{"type":"raw_response_event",${said},"data":${data}}}\n\n`;
}

/** Everything of a delta's frame between its id and its text is the same for all deltas of an item. */
const deltaHeads = new WeakMap<OutputItem, string>();

const DELTA_TYPES = {
  message: 'response.output_text.delta',
  reasoning: 'response.reasoning_summary_text.delta',
  tool_call: 'response.function_call_arguments.delta',
} as const;

/** Which part of its item a delta belongs to. */
const PARTS = { message: ',"content_index":0', reasoning: ',"summary_index":0', tool_call: '' } as const;

function place(item: OutputItem): string {
  return `"item_id":${JSON.stringify(item.id)},"output_index":${item.outputIndex}${PARTS[item.kind]}`;
}

function deltaHead(item: OutputItem): string {
  let head = deltaHeads.get(item);
  if (head === undefined) {
    const whole = raw(0, item, `{"type":"${DELTA_TYPES[item.kind]}",${place(item)}}`);
    head = `${whole.slice('id: 0'.length, whole.lastIndexOf(',"sequence_number"'))},"delta":`;
    deltaHeads.set(item, head);
  }
  return head;
}

function addedFrames(id: number, item: OutputItem): string[] {
  const at = `"output_index":${item.outputIndex}`;
  const added = raw(id, item, `{"type":"response.output_item.added",${at},"item":${openItemJson(item)}}`);
  if (item.kind !== 'message') return [added];
  const part = '{"type":"output_text","text":"","annotations":[]}';
  return [added, raw(id + 1, item, `{"type":"response.content_part.added",${place(item)},"part":${part}}`)];
}

function doneFrames(id: number, item: OutputItem): string[] {
  const at = place(item);
  const text = JSON.stringify(item.text);
  const done = `{"type":"response.output_item.done","output_index":${item.outputIndex},"item":${outputItemJson(item)}}`;
  switch (item.kind) {
    case 'message': {
      const part = `{"type":"output_text","text":${text},"annotations":[]}`;
      return [
        raw(id, item, `{"type":"response.output_text.done",${at},"text":${text}}`),
        raw(id + 1, item, `{"type":"response.content_part.done",${at},"part":${part}}`),
        raw(id + 2, item, done),
      ];
    }
    case 'reasoning':
      return [
        raw(id, item, `{"type":"response.reasoning_summary_text.done",${at},"text":${text}}`),
        raw(id + 1, item, done),
      ];
    case 'tool_call': {
      const called = `"name":${JSON.stringify(item.name)},"arguments":${text}`;
      return [
        raw(id, item, `{"type":"response.function_call_arguments.done",${at},${called}}`),
        raw(id + 1, item, done),
      ];
    }
  }
}

function otherFrame(event: Exclude<RunEvent, { type: 'delta' | 'item_added' | 'item_done' }>): string {
  const { id } = event;
  switch (event.type) {
    case 'meta': {
      const { runId, chatId, aliasChatId, usageRequestId, consumerId, agent, createdAt } = event.meta;
      const ids = { run_id: runId, chatId, aliasChatId, usageRequestId, consumerId };
      return frame(id, 'meta', JSON.stringify({ ...ids, agent, createdAt: iso(createdAt) }));
    }
    case 'response_created': {
      const response = responseJson(event.response, 'in_progress', [], null);
      return raw(id, event.response, `{"type":"response.created","response":${response}}`);
    }
    case 'response_done': {
      const response = responseJson(event.response, 'completed', event.output, event.usage);
      return raw(id, event.response, `{"type":"response.completed","response":${response}}`);
    }
    case 'run_item': {
      const { item, name } = event;
      const said = `"agent":${JSON.stringify(item.agent)},"callerAgent":${JSON.stringify(callerOf(item))}`;
      const data = `{"type":"run_item_stream_event",${said},"name":"${name}","item":${runItemJson(item)}}`;
      return frame(id, null, `{"data":${data}}`);
    }
    case 'history_left_out': {
      // In the form of a run item: clients pass over those whose name they do not know.
      const raw = { type: 'history_left_out', turns: event.turns };
      const item = { type: 'history_left_out_item', raw_item: raw };
      const said = { agent: event.agent, callerAgent: null, name: 'history_left_out', item };
      return frame(id, null, JSON.stringify({ data: { type: 'run_item_stream_event', ...said } }));
    }
    case 'resumed': {
      const { runId, attempt, discardAfter } = event;
      return frame(id, 'resumed', JSON.stringify({ run_id: runId, attempt, discard_after: discardAfter }));
    }
    case 'error': {
      const { message, code } = event.error;
      return frame(id, null, JSON.stringify({ error: message, code, run_id: event.runId }));
    }
    case 'messages': {
      const { runId, chatId, status, items, usage, error } = event;
      const cancelled = status === 'cancelled' ? { cancelled: true } : {};
      const head = JSON.stringify({ run_id: runId, chatId, status, ...cancelled }).slice(0, -1);
      const tail = JSON.stringify({ usage: usageJson(usage), files: [], error }).slice(1);
      return frame(id, 'messages', `${head},"new_messages":[${items.map(newMessageJson).join(',')}],${tail}`);
    }
    case 'end':
      return frame(id, 'end', '[DONE]');
  }
}

export function encodeEvent(event: RunEvent, cursor: number): string {
  if (event.type === 'delta') {
    const { id } = event;
    return `id: ${id}${deltaHead(event.item)}${JSON.stringify(event.text)},"sequence_number":${id}}}}\n\n`;
  }
  if (event.type !== 'item_added' && event.type !== 'item_done') return otherFrame(event);
  const frames = event.type === 'item_added' ? addedFrames(event.id, event.item) : doneFrames(event.id, event.item);
  // A reader may have been cut between the frames of one event.
  return frames.slice(Math.max(0, cursor - event.id + 1)).join('');
}

const HEADERS = { ...STREAM_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' };

/** Remembers the page it made last: readers at the hot end ask for the same one after the other. */
export class DefaultFraming implements Encoder {
  readonly headers = HEADERS;
  readonly heartbeat = ': \n\n';
  #events: readonly RunEvent[] | null = null;
  #from = 0;
  #next = 0;
  #end = 0;
  #data: string | Buffer = '';

  page(events: readonly RunEvent[], from: number, cursor: number, maxChars: number): EncodedPage {
    const first = events[from];
    const whole = first === undefined || first.id > cursor;
    if (whole && events === this.#events && from === this.#from && events.length === this.#end) {
      if (typeof this.#data === 'string') this.#data = Buffer.from(this.#data);
      return { data: this.#data, next: this.#next, breaksOff: false };
    }
    let data = '';
    let next = from;
    do {
      data += encodeEvent(events[next] as RunEvent, cursor);
      next += 1;
    } while (next < events.length && data.length < maxChars);
    if (whole) {
      this.#events = events;
      this.#from = from;
      this.#next = next;
      this.#end = events.length;
      this.#data = data;
    }
    return { data, next, breaksOff: false };
  }
}
