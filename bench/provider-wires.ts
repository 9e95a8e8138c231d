import { NOTE } from './model.ts';

/* The protocols that the scripted provider speaks. */

/** What a request asks for: the text of the last message of the user, and how many calls were answered since. */
export interface ProviderRequest {
  readonly text: string;
  readonly called: number;
}

export interface Wire {
  readonly start: string;
  /** One token's event, which is given as JSON. */
  readonly delta: (index: number, json: string) => string;
  readonly end: (tokens: number) => string;
  /** A whole answer that calls the tool. */
  readonly call: (number: number) => string;
  readonly read: (body: string) => ProviderRequest;
}

const event = (data: Readonly<Record<string, unknown>>) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const created = event({
  type: 'response.created',
  sequence_number: 0,
  response: { id: 'resp_1', status: 'in_progress' },
});
const DELTA = 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":';
const PLACE = ',"item_id":"msg_68e9f0a1b2c3d4e5f60718293a4b5c6d","output_index":0,"content_index":0,"delta":';

export const RESPONSES: Wire = {
  start: created,
  delta: (index, json) => `${DELTA}${index + 1}${PLACE}${json},"logprobs":[]}\n\n`,
  end(tokens) {
    const usage = { input_tokens: 20, output_tokens: tokens, total_tokens: tokens + 20 };
    const response = { id: 'resp_1', output: [], usage };
    return event({ type: 'response.completed', sequence_number: tokens + 1, response });
  },
  call(number) {
    const item = { type: 'function_call', id: `fc_${number}`, call_id: `call_${number}`, name: NOTE.name };
    const place = { item_id: item.id, output_index: 0 };
    const whole = { ...item, arguments: NOTE.arguments, status: 'completed' };
    const usage = { input_tokens: 20, output_tokens: 8, total_tokens: 28 };
    const events = [
      { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '', status: 'in_progress' } },
      { type: 'response.function_call_arguments.delta', ...place, delta: NOTE.arguments },
      { type: 'response.function_call_arguments.done', ...place, arguments: NOTE.arguments },
      { type: 'response.output_item.done', output_index: 0, item: whole },
      { type: 'response.completed', response: { id: 'resp_1', output: [whole], usage } },
    ];
    return created + events.map((data, index) => event({ ...data, sequence_number: index + 1 })).join('');
  },
  read(body) {
    const { input } = JSON.parse(body) as { input: { role?: string; type?: string; content: string }[] };
    const asked = input.findLastIndex(({ role }) => role === 'user');
    const called = input.slice(asked).filter(({ type }) => type === 'function_call_output').length;
    return { text: input[asked]?.content ?? '', called };
  },
};

const started = event({
  type: 'message_start',
  message: {
    id: 'msg_01',
    type: 'message',
    role: 'assistant',
    content: [],
    usage: { input_tokens: 20, output_tokens: 1 },
  },
});
const ended = (reason: string, tokens: number) =>
  event({ type: 'content_block_stop', index: 0 }) +
  event({ type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: tokens } }) +
  event({ type: 'message_stop' });
const opened = (block: object) => event({ type: 'content_block_start', index: 0, content_block: block });
const TEXT_DELTA =
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":';

export const MESSAGES: Wire = {
  start: started + opened({ type: 'text', text: '' }),
  delta: (_, json) => `${TEXT_DELTA}${json}}}\n\n`,
  end: (tokens) => ended('end_turn', tokens),
  call(number) {
    const delta = { type: 'input_json_delta', partial_json: NOTE.arguments };
    return (
      started +
      opened({ type: 'tool_use', id: `toolu_${number}`, name: NOTE.name, input: {} }) +
      event({ type: 'content_block_delta', index: 0, delta }) +
      ended('tool_use', 8)
    );
  },
  read(body) {
    const { messages } = JSON.parse(body) as { messages: { content: { type: string; text?: string }[] }[] };
    const blocks = messages.flatMap(({ content }) => content);
    const asked = blocks.findLastIndex(({ type, text }) => type === 'text' && text?.startsWith('/say') === true);
    return {
      text: blocks[asked]?.text ?? '',
      called: blocks.slice(asked).filter(({ type }) => type === 'tool_result').length,
    };
  },
};

const chunk = (choice: object, usage: object | null = null) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [choice], usage })}\n\n`;
const CHAT_DELTA =
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{"content":';

/** OpenAI's Chat Completions, for the peers. */
export const CHAT: Wire = {
  start: chunk({ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }),
  delta: (_, json) => `${CHAT_DELTA}${json}},"finish_reason":null}]}\n\n`,
  end(tokens) {
    const usage = { prompt_tokens: 20, completion_tokens: tokens, total_tokens: tokens + 20 };
    return `${chunk({ index: 0, delta: {}, finish_reason: 'stop' }, usage)}data: [DONE]\n\n`;
  },
  call: () => {
    throw new Error('The peers call no tools.');
  },
  read(body) {
    const { messages } = JSON.parse(body) as { messages: { role: string; content: string | { text: string }[] }[] };
    const asked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
    return { text: typeof asked === 'string' ? asked : asked.map(({ text }) => text).join(''), called: 0 };
  },
};
