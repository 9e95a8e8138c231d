import type { OutputItem, ResponseRef, RunItem } from '../../domain/events.ts';
import type { Usage } from '../../domain/usage.ts';

/** Our items in the words of OpenAI's Responses API. */

const status = (item: OutputItem) => (item.complete ? 'completed' : 'incomplete');

export function outputItem(item: OutputItem): Readonly<Record<string, unknown>> {
  switch (item.kind) {
    case 'message':
      return {
        type: 'message',
        id: item.id,
        role: 'assistant',
        status: status(item),
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
        status: status(item),
      };
  }
}

function plainItem(item: RunItem): Readonly<Record<string, unknown>> {
  if (item.kind === 'user') return { type: 'message', role: 'user', content: item.text };
  if (item.kind === 'tool_output') return { type: 'function_call_output', call_id: item.callId, output: item.text };
  return outputItem(item);
}

/** One of `new_messages`. */
export function newMessage(item: RunItem): Readonly<Record<string, unknown>> {
  return {
    ...plainItem(item),
    agent: item.agent,
    callerAgent: item.kind === 'user' ? null : item.callerAgent,
    timestamp: item.timestamp,
  };
}

const RUN_ITEM_TYPES = {
  user: 'message_input_item',
  message: 'message_output_item',
  reasoning: 'reasoning_item',
  tool_call: 'tool_call_item',
  tool_output: 'tool_call_output_item',
} as const;

/** `item` of a `run_item_stream_event`. */
export function runItem(item: RunItem): Readonly<Record<string, unknown>> {
  const shown = { type: RUN_ITEM_TYPES[item.kind], raw_item: plainItem(item) };
  return item.kind === 'tool_output' ? { ...shown, output: item.text } : shown;
}

export function responseObject(
  response: ResponseRef,
  state: 'in_progress' | 'completed',
  output: readonly OutputItem[],
  usage: Usage | null,
): Readonly<Record<string, unknown>> {
  return {
    id: response.id,
    object: 'response',
    status: state,
    model: response.model,
    output: output.map(outputItem),
    usage:
      usage === null
        ? null
        : {
            input_tokens: usage.inputTokens,
            input_tokens_details: { cached_tokens: usage.cachedTokens },
            output_tokens: usage.outputTokens,
            output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
            total_tokens: usage.inputTokens + usage.outputTokens,
          },
  };
}
