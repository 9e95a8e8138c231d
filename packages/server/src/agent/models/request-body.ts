import { randomBytes } from 'node:crypto';
import type { PromptAttachment } from '../../domain/prompt-attachment.ts';

/** What is sent as a data URL. */
type SentBytes = Extract<PromptAttachment, { kind: 'image' | 'pdf' }>;

/** So many bytes become base64 at a time: a multiple of three, so that the pieces join. */
const PIECE_BYTES = 192 * 1024;

/** A request's body: a text, or where it holds images or files, pieces that are made as they are sent. */
export type RequestBody = string | StreamedBody;

/**
 * A body with the bytes of images and files in it. They are read one at a time while it is sent, so that a chat with
 * many of them takes no more memory than the largest.
 */
export class StreamedBody {
  readonly #texts: readonly Buffer[];
  readonly #sent: readonly SentBytes[];
  readonly length: number;

  /** One text more than files: they stand between the texts. */
  constructor(texts: readonly string[], sent: readonly SentBytes[]) {
    this.#texts = texts.map((text) => Buffer.from(text));
    this.#sent = sent;
    this.length =
      this.#texts.reduce((sum, text) => sum + text.length, 0) +
      sent.reduce((sum, one) => sum + prefixOf(one).length + Math.ceil(one.sizeBytes / 3) * 4, 0);
  }

  /** Anew for each attempt. */
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

/** Makes a body whose images and files are put in while it is sent: until then a word stands for each that no text can hold. */
export class BodyMaker {
  readonly #word = randomBytes(16).toString('hex');
  readonly #sent: SentBytes[] = [];

  /** What stands for its data URL, to be asked for in the order in which they come in the body. */
  dataUrl(one: SentBytes): string {
    this.#sent.push(one);
    return this.#word;
  }

  make(body: unknown): RequestBody {
    const text = JSON.stringify(body);
    return this.#sent.length === 0 ? text : new StreamedBody(text.split(this.#word), this.#sent);
  }
}
