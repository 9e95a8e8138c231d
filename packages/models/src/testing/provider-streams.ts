import type { Usage } from '../usage.ts';
import { messagesEvents } from './messages-streams.ts';
import type { StreamScript } from './stream-script.ts';

export type Protocol = 'responses' | 'chat' | 'messages';

type Json = Readonly<Record<string, unknown>>;

/** The events that a provider of this protocol sends for the script; `[DONE]` is a string. */
export function providerEvents(protocol: Protocol, script: StreamScript): (Json | string)[] {
  if (protocol === 'messages') return messagesEvents(script);
  return protocol === 'responses' ? responsesEvents(script) : chatEvents(script);
}

/** The events as bytes on the wire. */
export function sseText(events: readonly (Json | string)[], lineEnd = '\n', comment: string | null = null): string {
  return events
    .map((event) => {
      const data = typeof event === 'string' ? event : JSON.stringify(event);
      const name = typeof event === 'object' && typeof event.type === 'string' ? `event: ${event.type}${lineEnd}` : '';
      const before = comment === null ? '' : `: ${comment}${lineEnd}${lineEnd}`;
      return `${before}${name}data: ${data}${lineEnd}${lineEnd}`;
    })
    .join('');
}

function responsesEvents({ parts, usage = null, end = 'whole' }: StreamScript): Json[] {
  const events: Json[] = [];
  const output: Json[] = [];
  const add = (type: string, more: Json) => events.push({ type, sequence_number: events.length, ...more });
  const head = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', parallel_tool_calls: true, tools: [] };
  add('response.created', { response: { ...head, status: 'in_progress', output: [], usage: null } });
  for (const part of parts) {
    if (part.kind === 'calls') responsesCalls(part.calls, output, add);
    else responsesText(part.kind, part.deltas, output, add);
  }
  if (end === 'none') return events;
  if (end === 'error') {
    add('error', { code: 'server_error', message: 'The engine stumbled.', param: null });
    return events;
  }
  const status = end === 'whole' ? 'completed' : 'incomplete';
  const details = end === 'whole' ? null : { reason: end === 'length' ? 'max_output_tokens' : end };
  const response = { ...head, status, output, incomplete_details: details, error: null, usage: responsesUsage(usage) };
  add(`response.${status}`, { response });
  return events;
}

function responsesText(
  kind: 'text' | 'reasoning' | 'refusal',
  deltas: readonly string[],
  output: Json[],
  add: (type: string, more: Json) => void,
): void {
  const whole = deltas.join('');
  const place = { item_id: `item_${output.length}`, output_index: output.length };
  if (kind === 'reasoning') {
    const part = { ...place, summary_index: 0 };
    const item = { id: place.item_id, type: 'reasoning', summary: [] as Json[] };
    add('response.output_item.added', { output_index: output.length, item });
    add('response.reasoning_summary_part.added', { ...part, part: { type: 'summary_text', text: '' } });
    for (const delta of deltas) add('response.reasoning_summary_text.delta', { ...part, delta });
    add('response.reasoning_summary_text.done', { ...part, text: whole });
    const done = { ...item, summary: [{ type: 'summary_text', text: whole }] };
    add('response.output_item.done', { output_index: output.length, item: done });
    output.push(done);
    return;
  }
  const at = { ...place, content_index: 0 };
  const content = (text: string) =>
    kind === 'text' ? { type: 'output_text', text, annotations: [] } : { type: 'refusal', refusal: text };
  const item = { id: place.item_id, type: 'message', role: 'assistant', status: 'in_progress', content: [] as Json[] };
  add('response.output_item.added', { output_index: output.length, item });
  add('response.content_part.added', { ...at, part: content('') });
  const name = kind === 'text' ? 'output_text' : 'refusal';
  for (const delta of deltas) add(`response.${name}.delta`, { ...at, delta });
  add(`response.${name}.done`, { ...at, [kind === 'text' ? 'text' : 'refusal']: whole });
  add('response.content_part.done', { ...at, part: content(whole) });
  const done = { ...item, status: 'completed', content: [content(whole)] };
  add('response.output_item.done', { output_index: output.length, item: done });
  output.push(done);
}

/** Parallel calls: all are added, then their arguments alternate. */
function responsesCalls(
  calls: readonly (readonly [string, string, string])[],
  output: Json[],
  add: (type: string, more: Json) => void,
): void {
  const first = output.length;
  const items = calls.map(([callId, name, args], i) => {
    const item = { id: `fc_${first + i}`, type: 'function_call', call_id: callId, name, status: 'in_progress' };
    add('response.output_item.added', { output_index: first + i, item: { ...item, arguments: '' } });
    return { ...item, arguments: args };
  });
  for (const half of [0, 1]) {
    for (const [i, item] of items.entries()) {
      const middle = Math.floor(item.arguments.length / 2);
      const delta = half === 0 ? item.arguments.slice(0, middle) : item.arguments.slice(middle);
      add('response.function_call_arguments.delta', { item_id: item.id, output_index: first + i, delta });
    }
  }
  for (const [i, item] of items.entries()) {
    const done = { item_id: item.id, output_index: first + i, name: item.name, arguments: item.arguments };
    add('response.function_call_arguments.done', done);
    add('response.output_item.done', { output_index: first + i, item: { ...item, status: 'completed' } });
    output.push({ ...item, status: 'completed' });
  }
}

function responsesUsage(usage: Usage | null): Json | null {
  if (usage === null) return null;
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

function chatEvents({ parts, usage = null, end = 'whole' }: StreamScript): (Json | string)[] {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const chunk = (delta: Json, finish: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    usage: null,
  });
  const events: (Json | string)[] = [chunk({ role: 'assistant', content: '', refusal: null })];
  let calls = 0;
  for (const part of parts) {
    if (part.kind !== 'calls') {
      const name = { text: 'content', reasoning: 'reasoning_content', refusal: 'refusal' }[part.kind];
      for (const delta of part.deltas) events.push(chunk({ [name]: delta }));
      continue;
    }
    for (const [i, [id, name]] of part.calls.entries()) {
      const call = { index: calls + i, id, type: 'function', function: { name, arguments: '' } };
      events.push(chunk({ tool_calls: [call] }));
    }
    for (const half of [0, 1]) {
      const pieces = part.calls.map(([, , args], i) => {
        const middle = Math.floor(args.length / 2);
        const piece = half === 0 ? args.slice(0, middle) : args.slice(middle);
        return { index: calls + i, function: { arguments: piece } };
      });
      events.push(chunk({ tool_calls: pieces }));
    }
    calls += part.calls.length;
  }
  if (end === 'none') return events;
  if (end === 'error') return [...events, { error: { message: 'The engine stumbled.', type: 'server_error' } }];
  events.push(chunk({}, end === 'whole' ? (calls > 0 ? 'tool_calls' : 'stop') : end));
  if (usage !== null) events.push({ ...head, choices: [], usage: chatUsage(usage) });
  events.push('[DONE]');
  return events;
}

function chatUsage(usage: Usage): Json {
  return {
    prompt_tokens: usage.inputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens: usage.outputTokens,
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}
