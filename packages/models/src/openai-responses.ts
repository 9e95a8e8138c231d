import type { ModelRequest, PromptItem } from './model.ts';
import { newCallId } from './new-call-id.ts';
import { openAiSettings, type SettingForms } from './openai-settings.ts';
import type { PromptAttachment } from './prompt-attachment.ts';
import { ProtocolReader } from './protocol-reader.ts';
import { isObject, type JsonObject, truncatedAnswer } from './provider-failure.ts';
import { reportedUsage } from './reported-usage.ts';
import {
  BodyMaker,
  type BodyPrefixes,
  EarlierTexts,
  ItemTexts,
  type PrefixText,
  type RequestBody,
  toolsWriter,
  withTool,
} from './request-body.ts';
import { shownMessage } from './shown-message.ts';
import { isStrict, OUTPUT_NAME } from './structured-output.ts';
import type { Usage } from './usage.ts';

/*
 * The Responses protocol of OpenAI. A response is a list of items (reasoning, message, function_call). Each item is
 * added, grows by deltas and is done. `response.completed`, `.incomplete` or `.failed` is last and contains the usage.
 */

const USAGE = {
  input: 'input_tokens',
  output: 'output_tokens',
  inputDetails: 'input_tokens_details',
  outputDetails: 'output_tokens_details',
};

const SETTINGS: SettingForms = {
  maxTokens: 'max_output_tokens',
  toolChoice: (name) => ({ type: 'function', name }),
};

const toolsText = toolsWriter(({ name, description, inputSchema }) => ({
  type: 'function',
  name,
  description,
  parameters: inputSchema,
  strict: false,
}));

export function responsesBody(model: string, request: ModelRequest, prefixes: BodyPrefixes): RequestBody {
  const maker = new BodyMaker();
  const earlier = earlierTexts.find(request);
  const input = inputTexts.all(request.prompt.slice(earlier.items), maker);
  const prefix = prefixes.find(request, () => prefixText(model, request));
  return maker.make(prefix, earlier, input);
}

function prefixText(model: string, request: ModelRequest): PrefixText {
  const tools = toolsText(request.tools);
  return {
    members: {
      model,
      ...(request.instructions === '' ? {} : { instructions: request.instructions }),
      ...reasoning(request),
      ...openAiSettings(request, SETTINGS),
      ...textFormat(request),
      stream: true,
      // This server stores the chat and never refers to a response that the provider stores.
      store: false,
    },
    toolsText: request.webSearch === true ? withTool(tools, { type: 'web_search' }) : tools,
    list: 'input',
  };
}

function textFormat({ output: schema }: ModelRequest): JsonObject {
  if (schema === undefined) return {};
  return { text: { format: { type: 'json_schema', name: OUTPUT_NAME, schema, strict: isStrict(schema) } } };
}

/**
 * The reasoning of earlier steps is not sent again. The protocol allows this: items of a response that was not stored
 * are sent without ids, so none of them requires the reasoning before it.
 */
function reasoning({ reasoning: requested }: ModelRequest): JsonObject {
  if (requested?.effort === undefined && requested?.summary === undefined) return {};
  return { reasoning: { effort: requested.effort, summary: requested.summary } };
}

const inputTexts = new ItemTexts(inputItem);
const earlierTexts = new EarlierTexts((items) => {
  const maker = new BodyMaker();
  return items.map((item) => JSON.stringify(inputItem(item, maker)));
});

function inputItem(item: PromptItem, maker: BodyMaker): JsonObject {
  switch (item.kind) {
    case 'user': {
      const text = shownMessage(item.text, item.sandboxFiles);
      return {
        role: 'user',
        content: item.attachments === undefined ? text : userContent(text, item.attachments, maker),
      };
    }
    case 'assistant':
      return { role: item.kind, content: item.text };
    case 'tool_call':
      return { type: 'function_call', call_id: item.callId, name: item.name, arguments: item.arguments };
    case 'tool_output':
      return {
        type: 'function_call_output',
        call_id: item.callId,
        output: item.images === undefined ? item.output : userContent(item.output, item.images, maker),
      };
  }
}

function userContent(text: string, attachments: readonly PromptAttachment[], maker: BodyMaker): JsonObject[] {
  return [
    // Providers refuse a part without text.
    ...(text === '' ? [] : [{ type: 'input_text', text }]),
    ...attachments.map((one) => part(one, maker)),
  ];
}

function part(one: PromptAttachment, maker: BodyMaker): JsonObject {
  switch (one.kind) {
    case 'image':
      return { type: 'input_image', image_url: maker.dataUrl(one), detail: one.detail };
    case 'pdf':
      return { type: 'input_file', filename: one.name, file_data: maker.dataUrl(one) };
    case 'text':
      return { type: 'input_text', text: one.text };
  }
}

const TYPE_START = '{"type":"response.';

/** Types of events without anything that is used. They are not parsed: some repeat the whole request or the whole answer. */
const UNUSED: ReadonlySet<string> = new Set([
  'created',
  'queued',
  'in_progress',
  'output_item.added',
  'content_part.added',
  'content_part.done',
  'reasoning_summary_part.added',
  'reasoning_summary_part.done',
  'reasoning_summary_text.done',
  'reasoning_text.done',
  'function_call_arguments.done',
]);

/** The end of a text, as OpenAI writes it: the part's indexes are before its text. */
const TEXT_DONE =
  /^\{"type":"response\.output_text\.done"(?:,"sequence_number":\d+)?,"item_id":"[^"\\]*","output_index":(\d+),"content_index":(\d+),/;

/** The end of a message or of reasoning, as OpenAI writes it. Only calls are taken from these events. */
const ITEM_DONE =
  /^\{"type":"response\.output_item\.done"(?:,"sequence_number":\d+)?,"output_index":\d+,"item":\{"id":"[^"\\]*","type":"(?:message|reasoning)"/;

/** Converts the events of a response to output of the model. Throws a `ProviderFailure` if there is no answer. */
export class ResponsesReader extends ProtocolReader {
  readonly #callIds: string[] = [];
  /** The text parts that arrived by deltas. Servers without deltas send the text at the end of the part. */
  readonly #deltaParts: string[] = [];
  #reasoningPart = '';

  protected override readUsage(value: unknown): Usage | null {
    return reportedUsage(value, USAGE);
  }

  override readonly deltaKey = 'delta';

  protected override isUnused(data: string): boolean {
    if (!data.startsWith(TYPE_START) || !data.endsWith('}')) return false;
    const type = data.slice(TYPE_START.length, data.indexOf('"', TYPE_START.length));
    if (UNUSED.has(type)) return true;
    if (type === 'output_item.done') return ITEM_DONE.test(data);
    const part = type === 'output_text.done' ? TEXT_DONE.exec(data) : null;
    return part !== null && this.#deltaParts.includes(`${part[1]}/${part[2]}`);
  }

  protected override done(): boolean {
    return false;
  }

  protected override take(event: JsonObject): boolean {
    switch (event.type) {
      case 'response.output_text.delta':
        this.#addPart(event);
        this.say(event.delta);
        this.plainDelta = event.delta as string;
        return false;
      case 'response.refusal.delta':
        this.#addPart(event);
        this.refuse(event.delta);
        return false;
      case 'response.output_text.done':
        if (!this.#deltaParts.includes(toPart(event))) this.say(event.text);
        return false;
      case 'response.refusal.done':
        if (!this.#deltaParts.includes(toPart(event))) this.refuse(event.refusal);
        return false;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#reasoning(event);
        return false;
      case 'response.function_call_arguments.delta':
        if (typeof event.delta === 'string') this.output.argumentsPiece(event.delta);
        return false;
      case 'response.output_item.done':
        if (isObject(event.item) && event.item.type === 'function_call') this.#toolCall(event.item);
        return false;
      case 'response.completed':
        this.#completed(event.response);
        return true;
      case 'response.incomplete':
        this.#report(event.response);
        throw truncatedAnswer(incompleteReason(event.response));
      case 'response.failed':
        this.#report(event.response);
        return this.fail(event);
      case 'error':
        return this.fail(event);
    }
    if (typeof event.type === 'string') return false;
    if (event.error !== undefined) this.fail(event);
    throw this.invalid('events of another protocol');
  }

  /** Only the last event completes a response. */
  override end(): boolean {
    return false;
  }

  #addPart(event: JsonObject): void {
    const part = toPart(event);
    if (!this.#deltaParts.includes(part)) this.#deltaParts.push(part);
  }

  #reasoning(event: JsonObject): void {
    if (event.delta === '') return;
    // A summary has several parts, each a paragraph.
    const part = `${event.output_index}/${event.summary_index ?? event.content_index}`;
    const isNext = this.#reasoningPart !== '' && this.#reasoningPart !== part;
    this.#reasoningPart = part;
    this.think(isNext && typeof event.delta === 'string' ? `\n\n${event.delta}` : event.delta);
  }

  #toolCall(item: JsonObject): void {
    const callId = typeof item.call_id === 'string' && item.call_id !== '' ? item.call_id : newCallId();
    // The same call can be in two events.
    if (this.#callIds.includes(callId)) return;
    this.#callIds.push(callId);
    this.call(callId, item.name, item.arguments);
  }

  #completed(response: unknown): void {
    this.#report(response);
    if (!isObject(response) || !Array.isArray(response.output)) return;
    const hadOutput = this.hasOutput;
    for (const item of response.output) {
      if (!isObject(item)) continue;
      if (item.type === 'function_call') this.#toolCall(item);
      if (hadOutput || item.type !== 'message' || !Array.isArray(item.content)) continue;
      // Some servers stream only the last event.
      for (const part of item.content) {
        if (!isObject(part)) continue;
        this.say(part.text ?? '');
        this.refuse(part.refusal ?? '');
      }
    }
  }

  #report(response: unknown): void {
    this.report(isObject(response) ? response.usage : null);
    if (!isObject(response)) return;
    if (typeof response.id === 'string') this.responseId = response.id;
    if (typeof response.status === 'string') this.finishReason = response.status;
  }
}

function toPart(event: JsonObject): string {
  return `${event.output_index}/${event.content_index}`;
}

function incompleteReason(response: unknown): string {
  const details = isObject(response) ? response.incomplete_details : null;
  return isObject(details) && typeof details.reason === 'string' ? details.reason : 'unknown';
}
