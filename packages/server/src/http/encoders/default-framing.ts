import type { OutputItem, RunEvent } from '../../domain/events.ts';
import { iso } from '../../domain/time.ts';
import { usageJson } from '../../domain/usage.ts';
import type { EncodedPage, Encoder } from './encoder.ts';
import { newMessage, outputItem, responseObject, runItem } from './responses-json.ts';

/** Server-sent events that clients of agency-swarm's stream read unchanged. */

function frame(id: number, name: string | null, data: string): string {
  return name === null ? `id: ${id}\ndata: ${data}\n\n` : `id: ${id}\nevent: ${name}\ndata: ${data}\n\n`;
}

interface Speaker {
  readonly agent: string;
  readonly callerAgent: string | null;
}

function raw(id: number, speaker: Speaker, body: Readonly<Record<string, unknown>>): string {
  const { agent, callerAgent } = speaker;
  const data = { type: 'raw_response_event', agent, callerAgent, data: { ...body, sequence_number: id } };
  return frame(id, null, JSON.stringify({ data }));
}

/** Everything of a delta's frame between its id and its text is the same for all deltas of an item. */
const deltaHeads = new WeakMap<OutputItem, string>();

function deltaHead(item: OutputItem): string {
  const known = deltaHeads.get(item);
  if (known !== undefined) return known;
  const { agent, callerAgent } = item;
  const body =
    item.kind === 'message'
      ? { type: 'response.output_text.delta', item_id: item.id, output_index: item.outputIndex, content_index: 0 }
      : item.kind === 'reasoning'
        ? {
            type: 'response.reasoning_summary_text.delta',
            item_id: item.id,
            output_index: item.outputIndex,
            summary_index: 0,
          }
        : { type: 'response.function_call_arguments.delta', item_id: item.id, output_index: item.outputIndex };
  const whole = JSON.stringify({ data: { type: 'raw_response_event', agent, callerAgent, data: body } });
  const head = `\ndata: ${whole.slice(0, -3)},"delta":`;
  deltaHeads.set(item, head);
  return head;
}

function addedFrames(id: number, item: OutputItem): string[] {
  const shown = { ...outputItem({ ...item, text: '' }), status: 'in_progress' };
  const added = raw(id, item, {
    type: 'response.output_item.added',
    output_index: item.outputIndex,
    item: item.kind === 'message' ? { ...shown, content: [] } : shown,
  });
  if (item.kind !== 'message') return [added];
  return [
    added,
    raw(id + 1, item, {
      type: 'response.content_part.added',
      item_id: item.id,
      output_index: item.outputIndex,
      content_index: 0,
      part: { type: 'output_text', text: '', annotations: [] },
    }),
  ];
}

function doneFrames(id: number, item: OutputItem): string[] {
  const at = { item_id: item.id, output_index: item.outputIndex };
  const done = (frameId: number) =>
    raw(frameId, item, {
      type: 'response.output_item.done',
      output_index: item.outputIndex,
      item: outputItem(item),
    });
  switch (item.kind) {
    case 'message':
      return [
        raw(id, item, { type: 'response.output_text.done', ...at, content_index: 0, text: item.text }),
        raw(id + 1, item, {
          type: 'response.content_part.done',
          ...at,
          content_index: 0,
          part: { type: 'output_text', text: item.text, annotations: [] },
        }),
        done(id + 2),
      ];
    case 'reasoning':
      return [
        raw(id, item, { type: 'response.reasoning_summary_text.done', ...at, summary_index: 0, text: item.text }),
        done(id + 1),
      ];
    case 'tool_call':
      return [
        raw(id, item, {
          type: 'response.function_call_arguments.done',
          ...at,
          name: item.name,
          arguments: item.text,
        }),
        done(id + 1),
      ];
  }
}

function otherFrame(event: Exclude<RunEvent, { type: 'delta' | 'item_added' | 'item_done' }>): string {
  const { id } = event;
  switch (event.type) {
    case 'meta': {
      const { runId, createdAt, ...rest } = event.meta;
      const { chatId, aliasChatId, usageRequestId, consumerId, agent } = rest;
      return frame(
        id,
        'meta',
        JSON.stringify({
          run_id: runId,
          chatId,
          aliasChatId,
          usageRequestId,
          consumerId,
          agent,
          createdAt: iso(createdAt),
        }),
      );
    }
    case 'response_created':
      return raw(id, event.response, {
        type: 'response.created',
        response: responseObject(event.response, 'in_progress', [], null),
      });
    case 'response_done':
      return raw(id, event.response, {
        type: 'response.completed',
        response: responseObject(event.response, 'completed', event.output, event.usage),
      });
    case 'run_item': {
      const { item } = event;
      const callerAgent = item.kind === 'user' ? null : item.callerAgent;
      return frame(
        id,
        null,
        JSON.stringify({
          data: {
            type: 'run_item_stream_event',
            agent: item.agent,
            callerAgent,
            name: event.name,
            item: runItem(item),
          },
        }),
      );
    }
    case 'resumed':
      return frame(
        id,
        'resumed',
        JSON.stringify({ run_id: event.runId, attempt: event.attempt, discard_after: event.discardAfter }),
      );
    case 'error':
      return frame(
        id,
        null,
        JSON.stringify({ error: event.error.message, code: event.error.code, run_id: event.runId }),
      );
    case 'messages':
      return frame(
        id,
        'messages',
        JSON.stringify({
          run_id: event.runId,
          chatId: event.chatId,
          status: event.status,
          ...(event.status === 'cancelled' ? { cancelled: true } : {}),
          new_messages: event.items.map(newMessage),
          usage: usageJson(event.usage),
          files: [],
          error: event.error,
        }),
      );
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

/** Remembers the page it made last: readers at the hot end ask for the same one after the other. */
export class DefaultFraming implements Encoder {
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
      return { data: this.#data, next: this.#next };
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
    return { data, next };
  }
}
