import type { Usage } from '../usage.ts';
import type { StreamScript } from './stream-script.ts';

type Json = Readonly<Record<string, unknown>>;

const STOP_REASONS = { length: 'max_tokens', content_filter: 'refusal' } as const;

/** The events of Anthropic's Messages protocol for the script. Refusals have no text of their own in this protocol. */
export function messagesEvents({ parts, usage = null, end = 'whole' }: StreamScript): Json[] {
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null };
  const events: Json[] = [{ type: 'message_start', message: { ...head, ...startUsage(usage) } }, { type: 'ping' }];
  let index = 0;
  const block = (start: Json, deltas: readonly Json[]) => {
    events.push({ type: 'content_block_start', index, content_block: start });
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
    index += 1;
  };
  let hasCalls = false;
  for (const part of parts) {
    if (part.kind === 'calls') {
      hasCalls = true;
      for (const [id, name, args] of part.calls) {
        const middle = Math.floor(args.length / 2);
        const pieces = ['', args.slice(0, middle), args.slice(middle)];
        const deltas = pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json }));
        block({ type: 'tool_use', id, name, input: {} }, deltas);
      }
    } else if (part.kind === 'reasoning') {
      const deltas = part.deltas.map((thinking) => ({ type: 'thinking_delta', thinking }));
      const signature = { type: 'signature_delta', signature: `signed-${index}` };
      block({ type: 'thinking', thinking: '', signature: '' }, [...deltas, signature]);
    } else {
      const deltas = part.deltas.map((text) => ({ type: 'text_delta', text }));
      block({ type: 'text', text: '' }, deltas);
    }
  }
  if (end === 'none') return events;
  if (end === 'error')
    return [...events, { type: 'error', error: { type: 'api_error', message: 'The engine stumbled.' } }];
  const reason = end === 'whole' ? (hasCalls ? 'tool_use' : 'end_turn') : STOP_REASONS[end];
  events.push({ type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, ...endUsage(usage) });
  events.push({ type: 'message_stop' });
  return events;
}

function getInput(usage: Usage): Json {
  return { input_tokens: usage.inputTokens - usage.cachedTokens, cache_read_input_tokens: usage.cachedTokens };
}

function startUsage(usage: Usage | null): Json {
  return usage === null ? {} : { usage: { ...getInput(usage), cache_creation_input_tokens: 0, output_tokens: 1 } };
}

function endUsage(usage: Usage | null): Json {
  if (usage === null) return {};
  const { outputTokens: output_tokens, reasoningTokens: thinking_tokens } = usage;
  return { usage: { ...getInput(usage), output_tokens, output_tokens_details: { thinking_tokens } } };
}
