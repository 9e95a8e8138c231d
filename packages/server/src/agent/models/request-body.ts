import { randomBytes } from 'node:crypto';
import type { PromptAttachment } from '../../domain/prompt-attachment.ts';
import type { ModelRequest, ModelTool, PromptItem } from '../ports.ts';
import type { JsonObject } from './provider-failure.ts';

/** Attachments whose bytes are sent. */
type SentAttachment = Extract<PromptAttachment, { kind: 'image' | 'pdf' }>;

/** Bytes that are sent as base64, after `prefix`. */
interface SentBytes {
  readonly one: SentAttachment;
  readonly prefix: string;
}

/** The number of bytes that are encoded at a time. A multiple of three, so that the base64 pieces can be joined. */
const PIECE_BYTES = 192 * 1024;

/** The body of a request: its bytes, or, if it contains images or files, pieces that are made while they are sent. */
export type RequestBody = Buffer | StreamedBody;

/**
 * A body with the bytes of images and files. They are read one at a time while the body is sent, so a chat with many of
 * them needs only the memory of the largest.
 */
export class StreamedBody {
  readonly #texts: readonly Buffer[];
  readonly #sent: readonly SentBytes[];
  readonly length: number;

  /** There is one text more than files: the files are between the texts. */
  constructor(prefix: Buffer, texts: readonly string[], sent: readonly SentBytes[]) {
    this.#texts = texts.map((text, index) => (index === 0 ? joined(prefix, text) : Buffer.from(text)));
    this.#sent = sent;
    this.length =
      this.#texts.reduce((sum, text) => sum + text.length, 0) +
      sent.reduce((sum, { one, prefix }) => sum + prefix.length + Math.ceil(one.sizeBytes / 3) * 4, 0);
  }

  /** Each attempt calls it again. */
  async *pieces(): AsyncGenerator<Buffer, void> {
    for (const [index, text] of this.#texts.entries()) {
      yield text;
      const sent = this.#sent[index];
      if (sent === undefined) return;
      yield Buffer.from(sent.prefix);
      const bytes = Buffer.from(await sent.one.read());
      for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
        yield Buffer.from(bytes.toString('base64', start, start + PIECE_BYTES), 'latin1');
      }
    }
  }
}

/**
 * Makes a body whose images and files are inserted while it is sent. Until then a random placeholder, which no text can
 * contain, represents each of them.
 */
export class BodyMaker {
  readonly #sent: SentBytes[] = [];
  #word = '';

  /** Returns the placeholder of a data URL. Call it in the order in which the files appear in the body. */
  dataUrl(one: SentAttachment): string {
    return this.#placeholder(one, `data:${one.mediaType};base64,`);
  }

  /** Returns the placeholder of the bytes alone, in the same order. */
  base64(one: SentAttachment): string {
    return this.#placeholder(one, '');
  }

  #placeholder(one: SentAttachment, prefix: string): string {
    if (this.#word === '') this.#word = randomBytes(16).toString('hex');
    this.#sent.push({ one, prefix });
    return this.#word;
  }

  /** `messages` are written as JSON. They follow the messages in the prefix. */
  make(prefix: Buffer, messages: readonly string[]): RequestBody {
    const isFirst = prefix[prefix.length - 1] === LIST_START;
    if (this.#sent.length === 0) return joinedMessages(prefix, messages, isFirst);
    const text = `${isFirst || messages.length === 0 ? '' : ','}${messages.join(',')}]}`;
    return new StreamedBody(prefix, text.split(this.#word), this.#sent);
  }
}

const LIST_START = 91;
const LIST_END = Buffer.from(']}');
const COMMA = 44;

/** Writes each message into the body directly: one text of all messages would be a second copy. */
function joinedMessages(prefix: Buffer, messages: readonly string[], isFirst: boolean): Buffer {
  let length = prefix.length + messages.length - (isFirst && messages.length > 0 ? 1 : 0) + LIST_END.length;
  for (const message of messages) length += Buffer.byteLength(message);
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = prefix.copy(bytes);
  for (const message of messages) {
    if (!isFirst || at > prefix.length) {
      bytes[at] = COMMA;
      at += 1;
    }
    at += bytes.write(message, at);
  }
  LIST_END.copy(bytes, at);
  return bytes;
}

/**
 * Writes items of prompts as JSON, each once: the items of earlier turns and steps are the same objects in every request.
 * The last item of a prompt is not kept, because most runs send it once. Attachments are written again, because each body
 * has its own placeholder.
 */
export class ItemTexts {
  readonly #texts = new WeakMap<PromptItem, string>();
  readonly #write: (item: PromptItem, maker: BodyMaker) => JsonObject;

  constructor(write: (item: PromptItem, maker: BodyMaker) => JsonObject) {
    this.#write = write;
  }

  all(prompt: readonly PromptItem[], maker: BodyMaker): string[] {
    return prompt.map((item, index) => {
      const known = this.#texts.get(item);
      if (known !== undefined) return known;
      const text = JSON.stringify(this.#write(item, maker));
      const isLast = index === prompt.length - 1;
      if (!isLast && !(item.kind === 'user' && item.attachments !== undefined)) this.#texts.set(item, text);
      return text;
    });
  }
}

/** The bytes are not in a shared pool: a call may be open for long, and would keep the whole pool. */
function joined(prefix: Buffer, text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(prefix.length + Buffer.byteLength(text));
  prefix.copy(bytes);
  bytes.write(text, prefix.length);
  return bytes;
}

/** What a prefix is made of, besides the tools. */
type PrefixParts = Pick<ModelRequest, 'instructions' | 'reasoning' | 'settings' | 'output' | 'webSearch'>;

interface KnownPrefix extends PrefixParts {
  readonly bytes: Buffer;
}

/** An agent whose first call is required has two, and one with a structured answer may have others. */
const MAX_PREFIXES = 4;
/** Instructions can contain values of a person. They leave the memory after at most this time, as turns of idle chats do. */
const KEPT_MS = 10 * 60_000;

/**
 * The start of the requests to one model: everything except their messages. An agent has the same list of tools in all its
 * runs, and mostly the same instructions, so the start is written once.
 */
export class BodyPrefixes {
  #byTools = new WeakMap<readonly ModelTool[], KnownPrefix[]>();
  /** Null if nothing is kept. */
  #forgetting: NodeJS.Timeout | null = null;

  /** `write` returns the members of the body, and the first of the messages if it is always the same. */
  find(request: ModelRequest, write: () => PrefixText): Buffer {
    const { tools, instructions, reasoning, settings, output, webSearch } = request;
    let known = this.#byTools.get(tools);
    if (known === undefined) {
      known = [];
      this.#byTools.set(tools, known);
    }
    for (const one of known) if (isSame(one, request)) return one.bytes;
    const bytes = prefixBytes(write());
    if (known.length === MAX_PREFIXES) known.shift();
    known.push({ instructions, reasoning, settings, output, webSearch, bytes });
    this.#forgetting ??= setTimeout(this.#forget, KEPT_MS).unref();
    return bytes;
  }

  #forget = (): void => {
    this.#forgetting = null;
    this.#byTools = new WeakMap();
  };
}

function isSame(known: KnownPrefix, request: ModelRequest): boolean {
  return (
    known.instructions === request.instructions &&
    known.settings === request.settings &&
    known.reasoning === request.reasoning &&
    known.output === request.output &&
    known.webSearch === request.webSearch
  );
}

export interface PrefixText {
  /** All members except the tools and the messages. */
  readonly members: JsonObject;
  /** The JSON of the field `tools`, or empty. */
  readonly toolsText: string;
  /** The name of the member that contains the messages. */
  readonly list: 'input' | 'messages';
  readonly firstMessage?: JsonObject | undefined;
}

/** Ends within the list of messages. */
export function prefixBytes({ members, toolsText, list, firstMessage }: PrefixText): Buffer {
  const tools = toolsText === '' ? '' : `,"tools":${toolsText}`;
  const first = firstMessage === undefined ? '' : JSON.stringify(firstMessage);
  return Buffer.from(`${JSON.stringify(members).slice(0, -1)}${tools},"${list}":[${first}`);
}

/** Adds a tool to a list of tools that is written as JSON. */
export function withTool(toolsText: string, tool: JsonObject): string {
  return toolsText === '' ? JSON.stringify([tool]) : `${toolsText.slice(0, -1)},${JSON.stringify(tool)}]`;
}

/** Writes tools as JSON, empty if there are none. An agent has the same list in all its runs, so it is written once. */
export function toolsWriter(describe: (tool: ModelTool) => JsonObject): (tools: readonly ModelTool[]) => string {
  const texts = new WeakMap<readonly ModelTool[], string>();
  return (tools) => {
    if (tools.length === 0) return '';
    let text = texts.get(tools);
    if (text === undefined) {
      text = JSON.stringify(tools.map(describe));
      texts.set(tools, text);
    }
    return text;
  };
}
