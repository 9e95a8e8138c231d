import type { Frame } from '@runwire/client';
import { RunParts } from '../transcript/run-parts.ts';

/** No task may block the page for long, so work pauses after this time. */
const SLICE_MS = 10;

const pause = () => new Promise((resolve) => setTimeout(resolve));

/** What an active run has written so far, made from the events that the page reads. */
export class LiveParts {
  readonly content = new RunParts();
  #frames: readonly Frame[] = [];
  #next = 0;
  #isReading = false;

  /** Reads the events that were added since. */
  async read(frames: readonly Frame[]): Promise<void> {
    // The list is another one if the page was opened again. The events are the same.
    this.#frames = frames;
    if (this.#isReading) return;
    this.#isReading = true;
    let sliceEnd = performance.now() + SLICE_MS;
    while (this.#next < this.#frames.length) {
      this.content.take(this.#frames[this.#next] as Frame);
      this.#next += 1;
      if (performance.now() < sliceEnd) continue;
      await pause();
      sliceEnd = performance.now() + SLICE_MS;
    }
    this.#isReading = false;
  }
}
