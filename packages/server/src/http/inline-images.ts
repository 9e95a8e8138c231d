import type { TakenOut } from '../lib/take-out-images.ts';

/** The images that came inside a request's body, held until they are stored or the request is over. */
export class InlineImages {
  #taken: ReadonlyMap<string, TakenOut[number][1]>;
  #onRelease: (bytes: number) => void;
  readonly #bytes: number;

  constructor(taken: TakenOut, onRelease: (bytes: number) => void) {
    this.#taken = new Map(taken);
    this.#onRelease = onRelease;
    this.#bytes = taken.reduce((sum, [, image]) => sum + ('bytes' in image ? image.bytes.length : 0), 0);
  }

  get heldBytes(): number {
    return this.#bytes;
  }

  get(standIn: string): TakenOut[number][1] | undefined {
    return this.#taken.get(standIn);
  }

  /** "After admission nothing keeps the body alive." Twice is once. */
  release(): void {
    this.#taken = new Map();
    this.#onRelease(this.#bytes);
    this.#onRelease = () => {};
  }
}
