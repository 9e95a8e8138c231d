import { randomBytes } from 'node:crypto';
import type { PromptAttachment } from '../../domain/prompt-attachment.ts';

/** Attachments that are sent as data URLs. */
type SentBytes = Extract<PromptAttachment, { kind: 'image' | 'pdf' }>;

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
      sent.reduce((sum, one) => sum + prefixOf(one).length + Math.ceil(one.sizeBytes / 3) * 4, 0);
  }

  /** Each attempt calls it again. */
  async *pieces(): AsyncGenerator<Buffer, void> {
    for (const [index, text] of this.#texts.entries()) {
      yield text;
      const one = this.#sent[index];
      if (one === undefined) return;
      yield Buffer.from(prefixOf(one));
      const bytes = Buffer.from(await one.read());
      for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
        yield Buffer.from(bytes.toString('base64', start, start + PIECE_BYTES), 'latin1');
      }
    }
  }
}

const prefixOf = ({ mediaType }: SentBytes) => `data:${mediaType};base64,`;

/**
 * Makes a body whose images and files are inserted while it is sent. Until then a random placeholder, which no text can
 * contain, represents each of them.
 */
export class BodyMaker {
  readonly #word = randomBytes(16).toString('hex');
  readonly #sent: SentBytes[] = [];

  /** Returns the placeholder of a data URL. Call it in the order in which the files appear in the body. */
  dataUrl(one: SentBytes): string {
    this.#sent.push(one);
    return this.#word;
  }

  make(body: unknown): RequestBody {
    const text = JSON.stringify(body);
    return this.#sent.length === 0 ? text : new StreamedBody(text.split(this.#word), this.#sent);
  }
}
