import type { Hold } from '@runwire/lib/fair-budget.ts';
import type { ExtractedImages } from './take-out-images.ts';

/** A body's images, kept until they are stored or the request has ended. */
export class InlineImages {
  #images: ReadonlyMap<string, ExtractedImages[number][1]>;
  readonly #hold: Hold;

  /** Takes over the hold of the body that contained the images, and shrinks it: decoded, they are smaller. */
  constructor(images: ExtractedImages, hold: Hold) {
    this.#images = new Map(images);
    this.#hold = hold;
    hold.shrinkTo(images.reduce((sum, [, image]) => sum + ('bytes' in image ? image.bytes.length : 0), 0));
  }

  get(standIn: string): ExtractedImages[number][1] | undefined {
    return this.#images.get(standIn);
  }

  /** "After admission nothing keeps the body alive." Idempotent. */
  release(): void {
    this.#images = new Map();
    this.#hold[Symbol.dispose]();
  }
}
