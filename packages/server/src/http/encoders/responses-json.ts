import type { Usage } from '../../domain/model/usage.ts';
import type {
  OutputItem,
  QuestionItem,
  ResponseRef,
  RunItem,
  RunItemName,
  ShownRunItem,
  ToolOutputItem,
} from '../../domain/run/events.ts';
import { toolImageJson } from '../../domain/run/tool-image.ts';

/**
 * Items in the format of the OpenAI Responses API, as JSON text. A finished item appears in four frames of its run, so
 * it is encoded once.
 */

interface ItemTexts {
  /** The part of a delta frame between its id and its text, which is the same for all deltas of the item. */
  deltaHead: string;
  /** The finished item's text, and the finished item itself. */
  text: string;
  whole: string;
}

const encoded = new WeakMap<OutputItem, ItemTexts>();

/** The texts of an item that several frames share. A text that is not known yet is empty. */
export function itemTexts(item: OutputItem): ItemTexts {
  let texts = encoded.get(item);
  if (texts === undefined) {
    texts = { deltaHead: '', text: '', whole: '' };
    encoded.set(item, texts);
  }
  return texts;
}

export function outputItemJson(item: OutputItem): string {
  if (!item.complete) return JSON.stringify(outputItem(item));
  const texts = itemTexts(item);
  if (texts.whole === '') texts.whole = JSON.stringify(outputItem(item));
  return texts.whole;
}

/** An item's text as JSON. */
export function textJson(item: OutputItem): string {
  if (!item.complete) return JSON.stringify(item.text);
  const texts = itemTexts(item);
  if (texts.text === '') texts.text = JSON.stringify(item.text);
  return texts.text;
}

/** Returns an item that has just begun. */
export function openItemJson(item: OutputItem): string {
  const empty = outputItem({ ...item, text: '', complete: false });
  const shown = { ...empty, status: 'in_progress' };
  return JSON.stringify(item.kind === 'message' ? { ...shown, content: [] } : shown);
}

function outputItem(item: OutputItem): Readonly<Record<string, unknown>> {
  const status = item.complete ? 'completed' : 'incomplete';
  switch (item.kind) {
    case 'message':
      return {
        type: 'message',
        id: item.id,
        role: 'assistant',
        status,
        content: [{ type: 'output_text', text: item.text, annotations: [] }],
      };
    case 'reasoning':
      return { type: 'reasoning', id: item.id, summary: [{ type: 'summary_text', text: item.text }] };
    case 'tool_call':
      return {
        type: 'function_call',
        id: item.id,
        call_id: item.callId,
        name: item.name,
        arguments: item.text,
        status,
      };
  }
}

function itemJson(item: RunItem): string {
  if (item.kind === 'user') return JSON.stringify({ type: 'message', role: 'user', content: item.text });
  if (item.kind === 'tool_output') {
    const failed = item.failed === true ? { failed: true } : {};
    const output = { type: 'function_call_output', call_id: item.callId, output: item.text };
    return JSON.stringify({ ...output, ...failed, ...getAttachments(item) });
  }
  return outputItemJson(item);
}

function getCaller(item: ShownRunItem): string | null {
  return item.kind === 'user' ? null : item.callerAgent;
}

/** One of `new_messages`. */
export function newMessageJson(item: RunItem): string {
  const agent = JSON.stringify(item.agent);
  const callerAgent = JSON.stringify(getCaller(item));
  const head = itemJson(item).slice(0, -1);
  return `${head},"agent":${agent},"callerAgent":${callerAgent},"timestamp":${item.timestamp}}`;
}

const RUN_ITEM_TYPES = {
  user: 'message_input_item',
  message: 'message_output_item',
  reasoning: 'reasoning_item',
  tool_call: 'tool_call_item',
  tool_output: 'tool_call_output_item',
} as const;

/** `item` of a `run_item_stream_event`. */
export function runItemJson(item: ShownRunItem, name: RunItemName): string {
  if (item.kind === 'question') return questionItemJson(item, name);
  if (name.startsWith('handoff_')) return handOffJson(item);
  const shown = `{"type":"${RUN_ITEM_TYPES[item.kind]}","raw_item":${itemJson(item)}`;
  if (item.kind !== 'tool_output') return `${shown}}`;
  const { failed = false } = item;
  const about = JSON.stringify({ output: item.text, ...(failed && { failed }), ...getAttachments(item) });
  return `${shown},${about.slice(1)}`;
}

/** The images of a call. Absent if it returned none. */
const getAttachments = ({ images }: ToolOutputItem) =>
  images === undefined ? {} : { attachments: images.map(toolImageJson) };

/** The call that waits, with the id that an answer needs. */
function questionItemJson({ questionId, callId, name: tool, text }: QuestionItem, name: RunItemName): string {
  const type = name === 'tool_approval_requested' ? 'tool_approval_item' : 'client_tool_item';
  const call = { type: 'function_call', call_id: callId, name: tool, arguments: text };
  return JSON.stringify({ type, question_id: questionId, raw_item: call });
}

/** The call of a hand-off, or its output. */
function handOffJson(item: RunItem): string {
  if (item.kind !== 'tool_output') return `{"type":"handoff_call_item","raw_item":${itemJson(item)}}`;
  const agents = JSON.stringify({ source_agent: item.agent, target_agent: item.handoff }).slice(1);
  return `{"type":"handoff_output_item","raw_item":${itemJson(item)},${agents}`;
}

export function responseJson(
  response: ResponseRef,
  state: 'in_progress' | 'completed',
  output: readonly OutputItem[],
  usage: Usage | null,
): string {
  const head = JSON.stringify({ id: response.id, object: 'response', status: state, model: response.model });
  const tail =
    usage === null
      ? null
      : {
          input_tokens: usage.inputTokens,
          input_tokens_details: { cached_tokens: usage.cachedTokens },
          output_tokens: usage.outputTokens,
          output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
          total_tokens: usage.inputTokens + usage.outputTokens,
        };
  return `${head.slice(0, -1)},"output":[${output.map(outputItemJson).join(',')}],"usage":${JSON.stringify(tail)}}`;
}
