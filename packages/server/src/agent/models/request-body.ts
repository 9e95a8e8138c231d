import { randomBytes } from 'node:crypto';
import type { PromptAttachment } from '../../domain/prompt-attachment.ts';
import type { ModelRequest, ModelTool } from '../ports.ts';
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

  /** `messages` follow the first message, if the prefix has one. */
  make(prefix: Buffer, messages: readonly unknown[]): RequestBody {
    const json = JSON.stringify(messages).slice(1);
    const text = prefix[prefix.length - 1] === LIST_START || messages.length === 0 ? `${json}}` : `,${json}}`;
    return this.#sent.length === 0
      ? joined(prefix, text)
      : new StreamedBody(prefix, text.split(this.#word), this.#sent);
  }
}

const LIST_START = 91;

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

/**
 * The start of the requests to one model: everything except their messages. An agent has the same list of tools in all its
 * runs, and mostly the same instructions, so the start is written once.
 */
export class BodyPrefixes {
  readonly #byTools = new WeakMap<readonly ModelTool[], KnownPrefix[]>();

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
    return bytes;
  }
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
