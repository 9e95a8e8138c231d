/*
 * The Open Responses specification of 2026-04-24 (https://www.openresponses.org), as far as this server sends it: the fields
 * that a response, an item and an event must have, and their types. `DIFFERENCES` lists what is not in the specification.
 */

type Check = (value: unknown, path: string) => string[];

const of =
  (what: string, holds: (value: unknown) => boolean): Check =>
  (value, path) =>
    holds(value) ? [] : [`${path} is not ${what}`];

const text = of('a text', (value) => typeof value === 'string');
const whole = of('an integer', Number.isInteger);
const number = of('a number', (value) => typeof value === 'number');
const flag = of('a boolean', (value) => typeof value === 'boolean');
const any: Check = (value, path) => (value === undefined ? [`${path} is missing`] : []);
const only = (...values: readonly unknown[]) => of(values.map(String).join(' or '), (value) => values.includes(value));
const orNull =
  (check: Check): Check =>
  (value, path) =>
    value === null ? [] : check(value, path);
const list =
  (check: Check): Check =>
  (value, path) =>
    Array.isArray(value) ? value.flatMap((one, index) => check(one, `${path}[${index}]`)) : [`${path} is not a list`];

/** An object with these fields. Each must exist; a name that ends with `?` may be absent. */
const object =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value, path) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return [`${path} is not an object`];
    const given = value as Readonly<Record<string, unknown>>;
    return Object.entries(fields).flatMap(([name, check]) => {
      const key = name.replace('?', '');
      if (Object.hasOwn(given, key)) return check(given[key], `${path}.${key}`);
      return name.endsWith('?') ? [] : [`${path}.${key} is missing`];
    });
  };

const byType =
  (variants: Readonly<Record<string, Check>>): Check =>
  (value, path) => {
    const type = (value as { readonly type?: unknown } | null)?.type;
    const check = typeof type === 'string' ? variants[type] : undefined;
    return check === undefined ? [`${path}.type is ${String(type)}, which is not known`] : check(value, path);
  };

const content = byType({
  input_text: object({ text }),
  output_text: object({ text, annotations: list(any), 'logprobs?': list(any) }),
  summary_text: object({ text }),
  reasoning_text: object({ text }),
  refusal: object({ refusal: text }),
  input_image: object({ image_url: orNull(text), detail: only('low', 'high', 'auto') }),
  input_file: object({ 'filename?': text, 'file_url?': text }),
});

const itemStatus = only('in_progress', 'completed', 'incomplete');

/** What is sent and not specified: items of OpenAI's own API, which clients know. */
export const DIFFERENCES = [
  'items of the type mcp_call, for tools of the server',
  'items of the type mcp_approval_request, for calls that wait for an approval',
  'the member conversation of a response: the chat',
  'the member user of a response, always null',
];

export const item = byType({
  message: object({
    id: text,
    status: itemStatus,
    role: only('user', 'assistant', 'system', 'developer'),
    content: list(content),
  }),
  function_call: object({ id: text, call_id: text, name: text, arguments: text, status: itemStatus }),
  function_call_output: object({ id: text, call_id: text, output: any, status: itemStatus }),
  reasoning: object({ id: text, summary: list(content), 'content?': list(content), 'encrypted_content?': text }),
  mcp_call: object({
    id: text,
    server_label: text,
    name: text,
    arguments: text,
    output: orNull(text),
    error: orNull(text),
    status: only('completed', 'failed'),
    approval_request_id: orNull(text),
  }),
  mcp_approval_request: object({ id: text, server_label: text, name: text, arguments: text }),
});

const usage = object({
  input_tokens: whole,
  output_tokens: whole,
  total_tokens: whole,
  input_tokens_details: object({ cached_tokens: whole }),
  output_tokens_details: object({ reasoning_tokens: whole }),
});

const tool = object({
  type: only('function'),
  name: text,
  description: orNull(text),
  parameters: orNull(object({})),
  strict: orNull(flag),
});

export const response = object({
  id: text,
  object: only('response'),
  created_at: whole,
  completed_at: orNull(whole),
  status: only('in_progress', 'completed', 'failed', 'cancelled', 'incomplete', 'queued'),
  incomplete_details: orNull(object({ reason: text })),
  model: text,
  previous_response_id: orNull(text),
  instructions: orNull(text),
  output: list(item),
  error: orNull(object({ code: text, message: text })),
  tools: list(tool),
  tool_choice: only('auto', 'none', 'required'),
  truncation: only('auto', 'disabled'),
  parallel_tool_calls: flag,
  text: object({ format: object({ type: only('text', 'json_object', 'json_schema') }) }),
  top_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  top_logprobs: whole,
  temperature: number,
  reasoning: orNull(object({})),
  usage: orNull(usage),
  max_output_tokens: orNull(whole),
  max_tool_calls: orNull(whole),
  store: flag,
  background: flag,
  service_tier: text,
  metadata: any,
  safety_identifier: orNull(text),
  prompt_cache_key: orNull(text),
  'conversation?': orNull(object({ id: text })),
  'user?': orNull(text),
});

const numbered = (fields: Readonly<Record<string, Check>>) => object({ sequence_number: whole, ...fields });
const about = numbered({ response });
const itemEvent = numbered({ output_index: whole, item });
const part = { item_id: text, output_index: whole };
const contentPart = { ...part, content_index: whole };
const summaryPart = { ...part, summary_index: whole };

export const event = byType({
  'response.created': about,
  'response.in_progress': about,
  'response.completed': about,
  'response.failed': about,
  'response.incomplete': about,
  'response.output_item.added': itemEvent,
  'response.output_item.done': itemEvent,
  'response.content_part.added': numbered({ ...contentPart, part: content }),
  'response.content_part.done': numbered({ ...contentPart, part: content }),
  'response.output_text.delta': numbered({ ...contentPart, delta: text, 'logprobs?': list(any) }),
  'response.output_text.done': numbered({ ...contentPart, text, 'logprobs?': list(any) }),
  'response.reasoning_summary_part.added': numbered({ ...summaryPart, part: content }),
  'response.reasoning_summary_part.done': numbered({ ...summaryPart, part: content }),
  'response.reasoning_summary_text.delta': numbered({ ...summaryPart, delta: text }),
  'response.reasoning_summary_text.done': numbered({ ...summaryPart, text }),
});
