import { randomBytes } from 'node:crypto';
import type { PromptAttachment } from '../../domain/prompt-attachment.ts';
import type { ModelTool } from '../ports.ts';
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

/** The body of a request: a text, or, if it contains images or files, pieces that are made while they are sent. */
export type RequestBody = string | StreamedBody;

/**
 * A body with the bytes of images and files. They are read one at a time while the body is sent, so a chat with many of
 * them needs only the memory of the largest.
 */
export class StreamedBody {
  readonly #texts: readonly Buffer[];
  readonly #sent: readonly SentBytes[];
  readonly length: number;

  /** There is one text more than files: the files are between the texts. */
  constructor(texts: readonly string[], sent: readonly SentBytes[]) {
    this.#texts = texts.map((text) => Buffer.from(text));
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

  /** `toolsText` is the JSON of the field `tools`, or empty. */
  make(body: JsonObject, toolsText: string): RequestBody {
    const json = JSON.stringify(body);
    const text = toolsText === '' ? json : `${json.slice(0, -1)},"tools":${toolsText}}`;
    return this.#sent.length === 0 ? text : new StreamedBody(text.split(this.#word), this.#sent);
  }
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
