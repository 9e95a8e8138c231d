import { streamFileJson } from '../../domain/changed-file.ts';
import {
  DONE_WIDTH,
  eventSize,
  lastFrameId,
  type OutputItem,
  type RunEvent,
  type Speaker,
} from '../../domain/events.ts';
import { streamedQuestion } from '../../domain/question-json.ts';
import { iso } from '../../domain/time.ts';
import { usageJson } from '../../domain/usage.ts';
import { type EncodedPage, type Encoder, STREAM_HEADERS } from './encoder.ts';
import { callerOf, newMessageJson, openItemJson, outputItemJson, responseJson, runItemJson } from './responses-json.ts';

/** Server-sent events that clients of agency-swarm's stream read unchanged. */

function frame(id: number, name: string | null, data: string): string {
  return name === null ? `id: ${id}\ndata: ${data}\n\n` : `id: ${id}\nevent: ${name}\ndata: ${data}\n\n`;
}

/** The fields that name who speaks. Frames of a delegated agent name the call that began its loop. */
function spoken({ agent, callerAgent, loop }: Speaker): string {
  const names = `"agent":${JSON.stringify(agent)},"callerAgent":${JSON.stringify(callerAgent)}`;
  return loop === undefined ? names : `${names},"parent_run_id":${JSON.stringify(loop)}`;
}

/** An event of the Responses API; `body` is the JSON text of an object. */
function raw(id: number, speaker: Speaker, body: string): string {
  const said = spoken(speaker);
  const data = `${body.slice(0, -1)},"sequence_number":${id}}`;
  return `id: ${id}\ndata: {"data":{"type":"raw_response_event",${said},"data":${data}}}\n\n`;
}

/** The part of a delta frame between its id and its text, which is the same for all deltas of an item. */
const deltaHeads = new WeakMap<OutputItem, string>();

const DELTA_TYPES = {
  message: 'response.output_text.delta',
  reasoning: 'response.reasoning_summary_text.delta',
  tool_call: 'response.function_call_arguments.delta',
} as const;

/** The fields that name the part of the item that a delta belongs to. */
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

function addedFrame(id: number, item: OutputItem, index: number): string {
  if (index === 0) {
    const at = `"output_index":${item.outputIndex}`;
    return raw(id, item, `{"type":"response.output_item.added",${at},"item":${openItemJson(item)}}`);
  }
  const part = '{"type":"output_text","text":"","annotations":[]}';
  return raw(id, item, `{"type":"response.content_part.added",${place(item)},"part":${part}}`);
}

function doneFrame(id: number, item: OutputItem, index: number): string {
  const at = place(item);
  if (index === DONE_WIDTH[item.kind] - 1) {
    const done = `"output_index":${item.outputIndex},"item":${outputItemJson(item)}`;
    return raw(id, item, `{"type":"response.output_item.done",${done}}`);
  }
  const text = JSON.stringify(item.text);
  switch (item.kind) {
    case 'message': {
      if (index === 0) return raw(id, item, `{"type":"response.output_text.done",${at},"text":${text}}`);
      const part = `{"type":"output_text","text":${text},"annotations":[]}`;
      return raw(id, item, `{"type":"response.content_part.done",${at},"part":${part}}`);
    }
    case 'reasoning':
      return raw(id, item, `{"type":"response.reasoning_summary_text.done",${at},"text":${text}}`);
    case 'tool_call': {
      const called = `"name":${JSON.stringify(item.name)},"arguments":${text}`;
      return raw(id, item, `{"type":"response.function_call_arguments.done",${at},${called}}`);
    }
  }
}

function otherFrame(event: Exclude<RunEvent, { type: 'delta' | 'item_added' | 'item_done' }>): string {
  const { id } = event;
  switch (event.type) {
    case 'meta': {
      const { runId, chatId, aliasChatId, usageRequestId, consumerId, agent, createdAt, ignoredFields } = event.meta;
      const ids = { run_id: runId, chatId, aliasChatId, usageRequestId, consumerId };
      // `JSON.stringify` omits undefined fields.
      const rest = { agent, createdAt: iso(createdAt), ignored_fields: ignoredFields };
      return frame(id, 'meta', JSON.stringify({ ...ids, ...rest }));
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
      const said = spoken({ ...item, callerAgent: callerOf(item) });
      const data = `{"type":"run_item_stream_event",${said},"name":"${name}","item":${runItemJson(item, name)}}`;
      return frame(id, null, `{"data":${data}}`);
    }
    case 'history_left_out': {
      // Has the form of a run item, because clients skip run items with an unknown name.
      const raw = { type: 'history_left_out', turns: event.turns };
      const item = { type: 'history_left_out_item', raw_item: raw };
      const said = { agent: event.agent, callerAgent: null, name: 'history_left_out', item };
      return frame(id, null, JSON.stringify({ data: { type: 'run_item_stream_event', ...said } }));
    }
    case 'tool_progress': {
      const raw = { type: 'tool_progress', call_id: event.callId, text: event.text };
      const item = JSON.stringify({ type: 'tool_progress_item', raw_item: raw });
      const data = `{"type":"run_item_stream_event",${spoken(event)},"name":"tool_progress","item":${item}}`;
      return frame(id, null, `{"data":${data}}`);
    }
    case 'mcp_server_failed': {
      const raw = { type: 'mcp_server_failed', agency: event.agency, server: event.server, error: event.error };
      const item = JSON.stringify({ type: 'mcp_server_item', raw_item: raw });
      const data = `{"type":"run_item_stream_event",${spoken(event)},"name":"mcp_server_failed","item":${item}}`;
      return frame(id, null, `{"data":${data}}`);
    }
    case 'file_changed': {
      const raw = { type: 'file_changed', call_id: event.callId, ...streamFileJson(event.file) };
      const item = JSON.stringify({ type: 'file_changed_item', raw_item: raw });
      const data = `{"type":"run_item_stream_event",${spoken(event)},"name":"file_changed","item":${item}}`;
      return frame(id, null, `{"data":${data}}`);
    }
    case 'agent_updated': {
      const data = `{"type":"agent_updated_stream_event",${spoken(event)},"new_agent":{"name":${JSON.stringify(event.newAgent)}}}`;
      return frame(id, null, `{"data":${data}}`);
    }
    case 'resumed': {
      const { runId, attempt, discardAfter, voidItems } = event;
      // `JSON.stringify` omits undefined fields.
      const data = { run_id: runId, attempt, discard_after: discardAfter, void_items: voidItems };
      return frame(id, 'resumed', JSON.stringify(data));
    }
    case 'error': {
      const { message, code } = event.error;
      return frame(id, null, JSON.stringify({ error: message, code, run_id: event.runId }));
    }
    case 'messages': {
      const { runId, chatId, status, items, usage, error, output = null, pending = [], files = [] } = event;
      const cancelled = status === 'cancelled' ? { cancelled: true } : {};
      const head = JSON.stringify({ run_id: runId, chatId, status, ...cancelled }).slice(0, -1);
      const tail = JSON.stringify({
        output,
        pending: pending.map(streamedQuestion),
        usage: usageJson(usage),
        files: files.map(streamFileJson),
        error,
      }).slice(1);
      return frame(id, 'messages', `${head},"new_messages":[${items.map(newMessageJson).join(',')}],${tail}`);
    }
    case 'end':
      return frame(id, 'end', '[DONE]');
  }
}

/** Returns the frame with this id. An event can consist of several frames. */
function frameOf(event: RunEvent, id: number): string {
  switch (event.type) {
    case 'delta':
      return `id: ${id}${deltaHead(event.item)}${JSON.stringify(event.text)},"sequence_number":${id}}}}\n\n`;
    case 'item_added':
      return addedFrame(id, event.item, id - event.id);
    case 'item_done':
      return doneFrame(id, event.item, id - event.id);
    default:
      return otherFrame(event);
  }
}

const HEADERS = { ...STREAM_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' };

/** Keeps the last page, because readers at the hot end ask for the same page one after the other. */
export class DefaultFraming implements Encoder {
  readonly headers = HEADERS;
  readonly heartbeat = ': \n\n';
  #events: readonly RunEvent[] | null = null;
  #end = 0;
  #after = 0;
  #page: EncodedPage | null = null;

  page(events: readonly RunEvent[], from: number, cursor: number, maxChars: number): EncodedPage {
    const after = Math.max(cursor, (events[from] as RunEvent).id - 1);
    const known = this.#page;
    if (known !== null && events === this.#events && events.length === this.#end && after === this.#after) {
      if (typeof known.data !== 'string') return known;
      const shared = { ...known, data: Buffer.from(known.data) };
      this.#page = shared;
      return shared;
    }
    this.#events = events;
    this.#end = events.length;
    this.#after = after;
    const page = pageOf(events, from, after, maxChars);
    this.#page = page;
    // Readers at the same cursor ask in the same turn. After that turn, large pages and pages of ended runs are
    // released.
    if (page.data.length > maxChars || events[page.next - 1]?.type === 'end') setImmediate(this.#forget);
    return page;
  }

  #forget = (): void => {
    this.#events = null;
    this.#page = null;
  };
}

function pageOf(events: readonly RunEvent[], from: number, after: number, maxChars: number): EncodedPage {
  let data = '';
  let cursor = after;
  let next = from;
  for (; next < events.length; next += 1) {
    const event = events[next] as RunEvent;
    const last = lastFrameId(event);
    // A reader may have been disconnected, or a page may have ended, between two frames of one event.
    for (let id = Math.max(event.id, cursor + 1); id <= last; id += 1) {
      // Uses an estimate of the size, so that a large frame is not encoded only to be discarded.
      if (data !== '' && data.length + eventSize(event) > maxChars) return { data, next, cursor, breaksOff: false };
      data += frameOf(event, id);
      cursor = id;
    }
  }
  return { data, next, cursor, breaksOff: false };
}
