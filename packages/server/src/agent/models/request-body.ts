import { randomBytes } from 'node:crypto';
import type { PromptImage } from '../ports.ts';

/** So many bytes of an image become base64 at a time: a multiple of three, so that the pieces join. */
const PIECE_BYTES = 192 * 1024;

/** A request's body: a text, or where it holds images, pieces that are made as they are sent. */
export type RequestBody = string | StreamedBody;

/**
 * A body with the bytes of images in it. They are read one image at a time while it is sent, so that a chat with many of
 * them takes no more memory than the largest.
 */
export class StreamedBody {
  readonly #texts: readonly Buffer[];
  readonly #images: readonly PromptImage[];
  readonly length: number;

  /** One text more than images: they stand between the texts. */
  constructor(texts: readonly string[], images: readonly PromptImage[]) {
    this.#texts = texts.map((text) => Buffer.from(text));
    this.#images = images;
    this.length =
      this.#texts.reduce((sum, text) => sum + text.length, 0) +
      images.reduce((sum, image) => sum + prefixOf(image).length + Math.ceil(image.sizeBytes / 3) * 4, 0);
  }

  /** Anew for each attempt. */
  async *pieces(): AsyncGenerator<Buffer, void> {
    for (const [index, text] of this.#texts.entries()) {
      yield text;
      const image = this.#images[index];
      if (image === undefined) return;
      yield Buffer.from(prefixOf(image));
      const bytes = Buffer.from(await image.read());
      for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
        yield Buffer.from(bytes.toString('base64', start, start + PIECE_BYTES), 'latin1');
      }
    }
  }
}

const prefixOf = ({ mediaType }: PromptImage) => `data:${mediaType};base64,`;

/** Makes a body whose images are put in while it is sent: until then a word stands for each that no text can hold. */
export class BodyMaker {
  readonly #word = randomBytes(16).toString('hex');
  readonly #images: PromptImage[] = [];

  /** What stands for the image's data URL, to be asked for in the order in which they come in the body. */
  imageUrl(image: PromptImage): string {
    this.#images.push(image);
    return this.#word;
  }

  make(body: unknown): RequestBody {
    const text = JSON.stringify(body);
    return this.#images.length === 0 ? text : new StreamedBody(text.split(this.#word), this.#images);
  }
}
