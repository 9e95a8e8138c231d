import { randomBytes } from 'node:crypto';
import type { ModelRequest, ModelTool, PromptItem } from './model.ts';
import type { PromptAttachment } from './prompt-attachment.ts';
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

/** A request's body: its bytes, or, if it contains images or files, pieces that are made while they are sent. */
export type RequestBody = Buffer | StreamedBody;

/**
 * A body with the bytes of images and files. They are read one at a time while the body is sent, so a chat with many of
 * them needs memory for the largest one only.
 */
export class StreamedBody {
  readonly #texts: readonly Buffer[];
  readonly #sent: readonly SentBytes[];
  readonly length: number;

  /** There is one text more than files: the files are between the texts. */
  constructor(texts: readonly Buffer[], sent: readonly SentBytes[]) {
    this.#texts = texts;
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

  /** `messages` are written as JSON. They follow the messages in the prefix and the earlier ones. */
  make(prefix: Buffer, { bytes: earlier }: EarlierMessages, messages: readonly string[]): RequestBody {
    if (this.#sent.length === 0) return joinMessages(prefix, earlier, messages, LIST_END);
    const [first = '', ...others] = `${messages.join(',')}]}`.split(this.#word);
    const start = joinMessages(prefix, earlier, [first], NOTHING);
    return new StreamedBody([start, ...others.map((text) => Buffer.from(text))], this.#sent);
  }
}

const LIST_START = 91;
const LIST_END = Buffer.from(']}');
const COMMA = 44;

/**
 * Writes each message into the body directly: one text of all messages would be a second copy. The bytes are not in a
 * shared pool: a call may be open for long, and would keep the whole pool.
 */
function joinMessages(prefix: Buffer, earlier: Buffer, messages: readonly string[], end: Buffer): Buffer {
  const pieces = messages.length + (earlier.length === 0 ? 0 : 1);
  const commas = prefix[prefix.length - 1] === LIST_START && pieces > 0 ? pieces - 1 : pieces;
  let length = prefix.length + earlier.length + commas + end.length;
  for (const message of messages) length += Buffer.byteLength(message);
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = prefix.copy(bytes);
  // Every message ends with a brace.
  const separate = () => {
    if (bytes[at - 1] === LIST_START) return;
    bytes[at] = COMMA;
    at += 1;
  };
  if (earlier.length > 0) {
    separate();
    at += earlier.copy(bytes, at);
  }
  for (const message of messages) {
    separate();
    at += bytes.write(message, at);
  }
  end.copy(bytes, at);
  return bytes;
}

/** The messages of earlier turns that a chat has sent last. */
interface KnownTurns {
  readonly items: readonly PromptItem[];
  /** Longer than the text, so that the next turns can be added. */
  readonly bytes: Buffer;
  readonly length: number;
}

/** The messages of the first items of a prompt as JSON, joined by commas. */
export interface EarlierMessages {
  readonly items: number;
  readonly bytes: Buffer;
}

const NOTHING = Buffer.alloc(0);
export const NO_EARLIER: EarlierMessages = { items: 0, bytes: NOTHING };

const mustBeWrittenAgain = (item: PromptItem | undefined) =>
  (item?.kind === 'user' && item.attachments !== undefined) ||
  (item?.kind === 'tool_output' && item.images !== undefined);

/**
 * The messages of earlier turns as bytes, each written once: the memory of turns has the same objects in every run of a
 * chat. A body with 97 of them needs one copy, 13 µs instead of 41 µs. They are kept by the first item, so they live as
 * long as the turn that begins the prompt.
 */
export class EarlierTexts {
  readonly #known = new WeakMap<PromptItem, KnownTurns>();
  readonly #write: (items: readonly PromptItem[]) => readonly string[];
  readonly #mayPrecedeUser: (item: PromptItem) => boolean;

  /**
   * `write` is not called with attachments, because each body has its own placeholder for them. `mayPrecedeUser` returns
   * false if the protocol writes the item and the user's message after it as one message.
   */
  constructor(
    write: (items: readonly PromptItem[]) => readonly string[],
    mayPrecedeUser: (item: PromptItem) => boolean = () => true,
  ) {
    this.#write = write;
    this.#mayPrecedeUser = mayPrecedeUser;
  }

  /** Returns the messages of the earlier turns up to the first attachment. */
  find({ prompt, earlierItems = 0 }: ModelRequest): EarlierMessages {
    const [first] = prompt;
    if (first === undefined || earlierItems === 0) return NO_EARLIER;
    let known = this.#known.get(first) ?? NO_TURNS;
    const isStart = known.items.length <= earlierItems && known.items.every((item, index) => item === prompt[index]);
    if (!isStart || !this.#isEnd(prompt, known.items.length)) known = NO_TURNS;
    let items = known.items.length;
    while (items < earlierItems && !mustBeWrittenAgain(prompt[items])) items += 1;
    while (items > known.items.length && !this.#isEnd(prompt, items)) items -= 1;
    if (items > known.items.length) {
      const added = this.#write(prompt.slice(known.items.length, items));
      known = addTurns(known, prompt.slice(0, items), added.join(','));
      this.#known.set(first, known);
    }
    return { items, bytes: known.bytes.subarray(0, known.length) };
  }

  /** True if no message has items before this index and items from it on. */
  #isEnd(prompt: readonly PromptItem[], index: number): boolean {
    const last = prompt[index - 1];
    return last === undefined || (prompt[index]?.kind === 'user' && this.#mayPrecedeUser(last));
  }
}

const NO_TURNS: KnownTurns = { items: [], bytes: NOTHING, length: 0 };
/** By this factor a chat's bytes are longer than its text needs, so that few turns copy it. */
const SPARE = 1.25;

function addTurns({ bytes, length }: KnownTurns, items: readonly PromptItem[], text: string): KnownTurns {
  const added = length === 0 ? text : `,${text}`;
  const needed = length + Buffer.byteLength(added);
  const room = needed <= bytes.length ? bytes : Buffer.allocUnsafeSlow(Math.ceil(needed * SPARE));
  if (room !== bytes) bytes.copy(room, 0, 0, length);
  room.write(added, length);
  return { items, bytes: room, length: needed };
}

/**
 * Writes items of prompts as JSON, each once: the items of earlier steps are the same objects in every request of a run.
 * A prompt's last item is not kept, because most runs send it once. Attachments are written again, because each body
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
      if (!isLast && !mustBeWrittenAgain(item)) this.#texts.set(item, text);
      return text;
    });
  }
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

  /** `write` returns the body's members, and the first of the messages if it is always the same. */
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
