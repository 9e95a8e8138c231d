import { streamFileJson } from '../../domain/file/changed-file.ts';
import { usageJson } from '../../domain/model/usage.ts';
import { streamedQuestion } from '../../domain/question/question-json.ts';
import {
  DONE_WIDTH,
  eventSize,
  lastFrameId,
  type OutputItem,
  type RunEvent,
  type Speaker,
} from '../../domain/run/events.ts';
import { iso } from '../../domain/time.ts';
import { type EncodedPage, type Encoder, STREAM_HEADERS } from './encoder.ts';
import { PageBytes } from './page-bytes.ts';
import {
  itemTexts,
  newMessageJson,
  openItemJson,
  outputItemJson,
  responseJson,
  runItemJson,
  textJson,
} from './responses-json.ts';

/** Server-sent events that clients of agency-swarm's stream read unchanged. */

function frame(out: PageBytes, id: number, name: string | null, data: string): PageBytes {
  out.text('id: ').number(id);
  if (name !== null) out.text(`\nevent: ${name}`);
  return out.text('\ndata: ').text(data).text('\n\n');
}

/** The last frame's speaker, and its text: one agent speaks in most frames of a run. */
let lastSpeaker: Speaker = { agent: '', callerAgent: null };
let lastSpoken = '';

/** The fields that name who speaks. Frames of a delegated agent name the call that began its loop. */
function spoken({ agent, callerAgent, loop }: Speaker): string {
  const isKnown = agent === lastSpeaker.agent && callerAgent === lastSpeaker.callerAgent && loop === lastSpeaker.loop;
  if (isKnown && lastSpoken !== '') return lastSpoken;
  const names = `"agent":${JSON.stringify(agent)},"callerAgent":${JSON.stringify(callerAgent)}`;
  lastSpeaker = { agent, callerAgent, ...(loop === undefined ? {} : { loop }) };
  lastSpoken = loop === undefined ? names : `${names},"parent_run_id":${JSON.stringify(loop)}`;
  return lastSpoken;
}

/** Begins an event of the Responses API. The fields of its object follow, then `endRaw`. */
function beginRaw(out: PageBytes, id: number, speaker: Speaker, type: string): void {
  out.text('id: ').number(id).text('\ndata: {"data":{"type":"raw_response_event",').text(spoken(speaker));
  out.text(',"data":{"type":"').text(type).text('",');
}

function endRaw(out: PageBytes, id: number): PageBytes {
  return out.text(',"sequence_number":').number(id).text('}}}\n\n');
}

/** A run item in the form of agency-swarm; `item` is the JSON text of an object. */
function runItem(out: PageBytes, id: number, speaker: Speaker, name: string, item: string): PageBytes {
  out.text('id: ').number(id).text('\ndata: {"data":{"type":"run_item_stream_event",').text(spoken(speaker));
  return out.text(',"name":"').text(name).text('","item":').text(item).text('}}\n\n');
}

const DELTA_TYPES = {
  message: 'response.output_text.delta',
  reasoning: 'response.reasoning_summary_text.delta',
  tool_call: 'response.function_call_arguments.delta',
} as const;

const DONE_TYPES = {
  message: 'response.output_text.done',
  reasoning: 'response.reasoning_summary_text.done',
  tool_call: 'response.function_call_arguments.done',
} as const;

/** The fields that name the part of the item that a delta belongs to. */
const PARTS = { message: ',"content_index":0', reasoning: ',"summary_index":0', tool_call: '' } as const;

function position(item: OutputItem): string {
  return `"item_id":${JSON.stringify(item.id)},"output_index":${item.outputIndex}${PARTS[item.kind]}`;
}

function deltaHead(item: OutputItem): string {
  const texts = itemTexts(item);
  if (texts.deltaHead === '') {
    const type = `"type":"${DELTA_TYPES[item.kind]}",${position(item)}`;
    texts.deltaHead = `\ndata: {"data":{"type":"raw_response_event",${spoken(item)},"data":{${type},"delta":`;
  }
  return texts.deltaHead;
}

function addedFrame(out: PageBytes, id: number, item: OutputItem, index: number): PageBytes {
  if (index === 0) {
    beginRaw(out, id, item, 'response.output_item.added');
    out.text('"output_index":').number(item.outputIndex).text(',"item":').text(openItemJson(item));
  } else {
    beginRaw(out, id, item, 'response.content_part.added');
    out.text(position(item)).text(',"part":{"type":"output_text","text":"","annotations":[]}');
  }
  return endRaw(out, id);
}

function doneFrame(out: PageBytes, id: number, item: OutputItem, index: number): PageBytes {
  if (index === DONE_WIDTH[item.kind] - 1) {
    beginRaw(out, id, item, 'response.output_item.done');
    out.text('"output_index":').number(item.outputIndex).text(',"item":').text(outputItemJson(item));
  } else if (item.kind === 'message' && index > 0) {
    beginRaw(out, id, item, 'response.content_part.done');
    out
      .text(position(item))
      .text(',"part":{"type":"output_text","text":')
      .text(textJson(item))
      .text(',"annotations":[]}');
  } else {
    beginRaw(out, id, item, DONE_TYPES[item.kind]);
    out.text(position(item));
    if (item.kind === 'tool_call') out.text(',"name":').json(item.name);
    out.text(item.kind === 'tool_call' ? ',"arguments":' : ',"text":').text(textJson(item));
  }
  return endRaw(out, id);
}

function otherFrame(
  out: PageBytes,
  event: Exclude<RunEvent, { type: 'delta' | 'item_added' | 'item_done' }>,
): PageBytes {
  const { id } = event;
  switch (event.type) {
    case 'meta': {
      const { runId, chatId, aliasChatId, usageRequestId, consumerId, agent, createdAt, ignoredFields } = event.meta;
      const ids = { run_id: runId, chatId, aliasChatId, usageRequestId, consumerId };
      // `JSON.stringify` omits undefined fields.
      const rest = { agent, createdAt: iso(createdAt), ignored_fields: ignoredFields };
      return frame(out, id, 'meta', JSON.stringify({ ...ids, ...rest }));
    }
    case 'response_created': {
      beginRaw(out, id, event.response, 'response.created');
      out.text('"response":').text(responseJson(event.response, 'in_progress', [], null));
      return endRaw(out, id);
    }
    case 'response_done': {
      beginRaw(out, id, event.response, 'response.completed');
      out.text('"response":').text(responseJson(event.response, 'completed', event.output, event.usage));
      return endRaw(out, id);
    }
    case 'run_item': {
      const { item, name } = event;
      const speaker = item.kind === 'user' ? { ...item, callerAgent: null } : item;
      return runItem(out, id, speaker, name, runItemJson(item, name));
    }
    case 'history_left_out': {
      // Has a run item's form, because clients skip run items with an unknown name.
      const name = event.summarized === true ? 'history_summarized' : 'history_left_out';
      const item = { type: `${name}_item`, raw_item: { type: name, turns: event.turns } };
      const fields = { agent: event.agent, callerAgent: null, name, item };
      return frame(out, id, null, JSON.stringify({ data: { type: 'run_item_stream_event', ...fields } }));
    }
    case 'tool_progress': {
      const raw = { type: 'tool_progress', call_id: event.callId, text: event.text };
      const item = JSON.stringify({ type: 'tool_progress_item', raw_item: raw });
      return runItem(out, id, event, 'tool_progress', item);
    }
    case 'mcp_server_failed': {
      const raw = { type: 'mcp_server_failed', agency: event.agency, server: event.server, error: event.error };
      const item = JSON.stringify({ type: 'mcp_server_item', raw_item: raw });
      return runItem(out, id, event, 'mcp_server_failed', item);
    }
    case 'file_changed': {
      const raw = { type: 'file_changed', call_id: event.callId, ...streamFileJson(event.file) };
      const item = JSON.stringify({ type: 'file_changed_item', raw_item: raw });
      return runItem(out, id, event, 'file_changed', item);
    }
    case 'agent_updated': {
      const data = `{"type":"agent_updated_stream_event",${spoken(event)},"new_agent":{"name":${JSON.stringify(event.newAgent)}}}`;
      return frame(out, id, null, `{"data":${data}}`);
    }
    case 'resumed': {
      const { runId, attempt, discardAfter, voidItems } = event;
      // `JSON.stringify` omits undefined fields.
      const data = { run_id: runId, attempt, discard_after: discardAfter, void_items: voidItems };
      return frame(out, id, 'resumed', JSON.stringify(data));
    }
    case 'error': {
      const { message, code } = event.error;
      return frame(out, id, null, JSON.stringify({ error: message, code, run_id: event.runId }));
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
      return frame(out, id, 'messages', `${head},"new_messages":[${items.map(newMessageJson).join(',')}],${tail}`);
    }
    case 'end':
      return frame(out, id, 'end', '[DONE]');
  }
}

/** Writes the frame with this id. An event can consist of several frames. */
function writeFrame(out: PageBytes, event: RunEvent, id: number): PageBytes {
  switch (event.type) {
    case 'delta':
      out.text('id: ').number(id).text(deltaHead(event.item)).json(event.text);
      return endRaw(out, id);
    case 'item_added':
      return addedFrame(out, id, event.item, id - event.id);
    case 'item_done':
      return doneFrame(out, id, event.item, id - event.id);
    default:
      return otherFrame(out, event);
  }
}

const HEADERS = { ...STREAM_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' };

/** Keeps the last page, because readers at the hot end ask for the same page one after the other. */
export class DefaultFraming implements Encoder {
  readonly headers = HEADERS;
  readonly heartbeat = ': \n\n';
  readonly #bytes = new PageBytes();
  #events: readonly RunEvent[] | null = null;
  #end = 0;
  #after = 0;
  #page: EncodedPage | null = null;

  page(events: readonly RunEvent[], from: number, cursor: number, maxBytes: number): EncodedPage {
    const after = Math.max(cursor, (events[from] as RunEvent).id - 1);
    const known = this.#page;
    if (known !== null && events === this.#events && events.length === this.#end && after === this.#after) return known;
    this.#events = events;
    this.#end = events.length;
    this.#after = after;
    this.#bytes.clear();
    const page = writePage(this.#bytes, events, from, after, maxBytes);
    this.#page = page;
    // Readers at the same cursor ask in the same turn. After that turn, large pages and pages of ended runs are
    // released.
    if (page.data.length > maxBytes || events[page.next - 1]?.type === 'end') setImmediate(this.#forget);
    return page;
  }

  #forget = (): void => {
    this.#events = null;
    this.#page = null;
    this.#bytes.clear();
  };
}

function writePage(
  data: PageBytes,
  events: readonly RunEvent[],
  from: number,
  after: number,
  maxBytes: number,
): EncodedPage {
  let cursor = after;
  let next = from;
  for (; next < events.length; next += 1) {
    const event = events[next] as RunEvent;
    const last = lastFrameId(event);
    // A reader may have been disconnected, or a page may have ended, between two frames of one event.
    for (let id = Math.max(event.id, cursor + 1); id <= last; id += 1) {
      // Uses an estimate of the size, so that a large frame is not encoded only to be discarded.
      if (data.length > 0 && data.length + eventSize(event) > maxBytes) return { data, next, cursor, breaksOff: false };
      writeFrame(data, event, id);
      cursor = id;
    }
  }
  return { data, next, cursor, breaksOff: false };
}
