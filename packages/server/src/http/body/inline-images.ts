import type { Hold } from '../../lib/fair-budget.ts';
import type { TakenOut } from './take-out-images.ts';

/** The images of a body, kept until they are stored or the request has ended. */
export class InlineImages {
  #taken: ReadonlyMap<string, TakenOut[number][1]>;
  readonly #hold: Hold;

  /** Takes over the hold of the body that contained the images, and shrinks it: decoded, they are smaller. */
  constructor(taken: TakenOut, hold: Hold) {
    this.#taken = new Map(taken);
    this.#hold = hold;
    hold.shrinkTo(taken.reduce((sum, [, image]) => sum + ('bytes' in image ? image.bytes.length : 0), 0));
  }

  get(standIn: string): TakenOut[number][1] | undefined {
    return this.#taken.get(standIn);
  }

  /** "After admission nothing keeps the body alive." Idempotent. */
  release(): void {
    this.#taken = new Map();
    this.#hold[Symbol.dispose]();
  }
}
