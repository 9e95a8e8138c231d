import { hash } from 'node:crypto';
import { imagesOfCall } from './images-of-call.ts';
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
  type PrefixText,
  type RequestBody,
  toolsWriter,
} from './request-body.ts';
import { shownMessage } from './shown-message.ts';
import { isStrict, OUTPUT_NAME } from './structured-output.ts';
import type { Usage } from './usage.ts';

/*
 * The Chat Completions protocol of OpenAI, which vLLM, Ollama and most compatible servers implement. A chunk contains
 * deltas of one message. Tool calls grow by their index. A finish reason ends the message, a separate chunk contains
 * the usage, and `[DONE]` is last.
 */

const USAGE = {
  input: 'prompt_tokens',
  output: 'completion_tokens',
  inputDetails: 'prompt_tokens_details',
  outputDetails: 'completion_tokens_details',
};

/** Finish reasons of incomplete messages. Servers have many names for the other reasons. */
const SHORT: ReadonlySet<unknown> = new Set(['length', 'content_filter', 'error', 'abort']);

const toolsText = toolsWriter(({ name, description, inputSchema }) => ({
  type: 'function',
  function: { name, description, parameters: inputSchema },
}));

/** How the servers of a provider differ from those of OpenAI. */
interface ChatDialect extends SettingForms {
  /** False if the server refuses `stream_options`. It then reports the usage without being asked. */
  readonly takesStreamOptions: boolean;
  /** Returns a call's id in a form that the server accepts. */
  readonly callId: (id: string) => string;
  readonly earlierTexts: EarlierTexts;
}

const earlierTexts = (callId: ChatDialect['callId']) =>
  new EarlierTexts((items) => messageTexts(items, new BodyMaker(), callId));

const sameId: ChatDialect['callId'] = (id) => id;
/** Ids have nine letters and digits. */
const mistralId: ChatDialect['callId'] = (id) => (/^[a-zA-Z0-9]{9}$/.test(id) ? id : hash('sha256', id).slice(0, 9));

const OPENAI: ChatDialect = {
  maxTokens: 'max_completion_tokens',
  toolChoice: (name) => ({ type: 'function', function: { name } }),
  takesStreamOptions: true,
  callId: sameId,
  earlierTexts: earlierTexts(sameId),
};
const COMPATIBLE: ChatDialect = { ...OPENAI, maxTokens: 'max_tokens' };
const MISTRAL: ChatDialect = {
  ...COMPATIBLE,
  takesStreamOptions: false,
  callId: mistralId,
  earlierTexts: earlierTexts(mistralId),
};

export function chatDialect(provider: string): ChatDialect {
  return provider === 'openai' ? OPENAI : provider === 'mistral' ? MISTRAL : COMPATIBLE;
}

export function chatBody(
  model: string,
  request: ModelRequest,
  dialect: ChatDialect,
  prefixes: BodyPrefixes,
): RequestBody {
  const maker = new BodyMaker();
  const earlier = dialect.earlierTexts.find(request);
  const texts = messageTexts(request.prompt.slice(earlier.items), maker, dialect.callId);
  const prefix = prefixes.find(request, () => prefixText(model, request, dialect));
  return maker.make(prefix, earlier, texts);
}

function prefixText(model: string, request: ModelRequest, dialect: ChatDialect): PrefixText {
  const { instructions } = request;
  return {
    members: {
      model,
      // The protocol has no reasoning summaries.
      ...(request.reasoning?.effort === undefined ? {} : { reasoning_effort: request.reasoning.effort }),
      ...openAiSettings(request, dialect),
      ...responseFormat(request),
      stream: true,
      ...(dialect.takesStreamOptions ? { stream_options: { include_usage: true } } : {}),
    },
    toolsText: toolsText(request.tools),
    list: 'messages',
    firstMessage: instructions === '' ? undefined : { role: 'system', content: instructions },
  };
}

function responseFormat({ output: schema }: ModelRequest): JsonObject {
  if (schema === undefined) return {};
  return {
    response_format: {
      type: 'json_schema',
      json_schema: { name: OUTPUT_NAME, schema, strict: isStrict(schema) },
    },
  };
}

interface ChatMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  content: string | null | JsonObject[];
  tool_calls?: JsonObject[];
  readonly tool_call_id?: string;
}

function userContent(text: string, attachments: readonly PromptAttachment[], maker: BodyMaker): JsonObject[] {
  return [
    // Providers refuse a part without text.
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...attachments.map((one) => part(one, maker)),
  ];
}

function part(one: PromptAttachment, maker: BodyMaker): JsonObject {
  switch (one.kind) {
    case 'image':
      return { type: 'image_url', image_url: { url: maker.dataUrl(one), detail: one.detail } };
    case 'pdf':
      return { type: 'file', file: { filename: one.name, file_data: maker.dataUrl(one) } };
    case 'text':
      return { type: 'text', text: one.text };
  }
}

/**
 * The messages after the instructions. The text and one step's calls are one message, because the protocol requires
 * the outputs of calls directly after it.
 */
function messageTexts(prompt: readonly PromptItem[], maker: BodyMaker, callId: ChatDialect['callId']): string[] {
  const all: ChatMessage[] = [];
  // Only messages of the user can contain images, and nothing may be between the outputs of one step.
  let images: JsonObject[] = [];
  const showImages = () => {
    if (images.length > 0) all.push({ role: 'user', content: images });
    images = [];
  };
  for (const item of prompt) {
    if (item.kind !== 'tool_output') showImages();
    switch (item.kind) {
      case 'user': {
        const text = shownMessage(item.text, item.sandboxFiles);
        const { attachments } = item;
        all.push({ role: 'user', content: attachments === undefined ? text : userContent(text, attachments, maker) });
        break;
      }
      case 'assistant':
        all.push({ role: item.kind, content: item.text });
        break;
      case 'tool_call': {
        let last = all.at(-1);
        if (last?.role !== 'assistant') {
          last = { role: 'assistant', content: null };
          all.push(last);
        }
        last.tool_calls ??= [];
        last.tool_calls.push({
          id: callId(item.callId),
          type: 'function',
          function: { name: item.name, arguments: item.arguments },
        });
        break;
      }
      case 'tool_output':
        all.push({ role: 'tool', tool_call_id: callId(item.callId), content: item.output });
        if (item.images !== undefined) {
          images.push({ type: 'text', text: imagesOfCall(callId(item.callId)) });
          for (const one of item.images) images.push(part(one, maker));
        }
        break;
    }
  }
  showImages();
  return all.map((message) => JSON.stringify(message));
}

interface OpenCall {
  readonly index: number;
  id: string;
  name: string;
  arguments: string;
}

/** Converts the chunks of a completion to output of the model. Throws a `ProviderFailure` if there is no answer. */
export class ChatReader extends ProtocolReader {
  readonly #calls: OpenCall[] = [];
  override readonly deltaKey = 'content';

  protected override readUsage(value: unknown): Usage | null {
    return reportedUsage(value, USAGE);
  }

  protected override done(): boolean {
    if (!this.end()) throw this.invalid('an answer without a finish reason');
    return true;
  }

  protected override take(chunk: JsonObject): boolean {
    if (chunk.error !== undefined && chunk.error !== null) this.fail(chunk);
    if (typeof chunk.type === 'string' && chunk.type.startsWith('response.'))
      throw this.invalid('events of another protocol');
    if (isObject(chunk.usage)) this.report(chunk.usage);
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isObject(choice)) return false;
    if (isObject(choice.delta)) this.#delta(choice.delta);
    if (typeof choice.finish_reason === 'string') {
      this.finishReason = choice.finish_reason;
      if (typeof chunk.id === 'string') this.responseId = chunk.id;
    }
    return false;
  }

  /** A message with a finish reason is complete, with or without `[DONE]`. */
  override end(): boolean {
    if (this.finishReason === null) return false;
    if (SHORT.has(this.finishReason)) throw truncatedAnswer(this.finishReason);
    for (const { id, name, arguments: argumentsText } of this.#calls) {
      this.call(id === '' ? newCallId() : id, name, argumentsText);
    }
    return true;
  }

  #delta(delta: JsonObject): void {
    const reasoning = delta.reasoning_content ?? delta.reasoning;
    // Some servers send objects here.
    if (typeof reasoning === 'string') this.think(reasoning);
    this.say(delta.content ?? '');
    this.refuse(delta.refusal ?? '');
    const isPlain = typeof delta.content === 'string' && !delta.refusal && !delta.tool_calls && !reasoning;
    if (isPlain) this.plainDelta = delta.content as string;
    if (Array.isArray(delta.tool_calls)) for (const piece of delta.tool_calls) this.#toolCall(piece);
  }

  #toolCall(piece: unknown): void {
    if (!isObject(piece)) throw this.invalid('a tool call that is not valid');
    const index = typeof piece.index === 'number' ? piece.index : 0;
    const id = typeof piece.id === 'string' ? piece.id : '';
    const { name, arguments: argumentsText } = isObject(piece.function) ? piece.function : {};
    let call = this.#calls.findLast((open) => open.index === index);
    // Some servers give every call the index 0, so another id means another call.
    if (call === undefined || (id !== '' && call.id !== '' && call.id !== id)) {
      if (id !== '' && this.#calls.some((known) => known.id === id)) return;
      call = { index, id, name: '', arguments: '' };
      this.#calls.push(call);
    }
    if (call.id === '') call.id = id;
    if (typeof name === 'string' && call.name === '') call.name = name;
    if (typeof argumentsText !== 'string') return;
    call.arguments += argumentsText;
    this.output.argumentsPiece(argumentsText);
  }
}
