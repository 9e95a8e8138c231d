import type { StreamReader } from '@runwire/test-kit';

/** Notes when each frame of a stream came, by its id, on the clock of this process. */
export class StampedReader {
  readonly reader: StreamReader;
  readonly arrivals = new Map<number, number>();
  /** Settles when the connection is over; true where the answer came whole. */
  readonly over: Promise<boolean>;
  #seen = 0;

  constructor(reader: StreamReader) {
    this.reader = reader;
    this.over = this.#stamp();
  }

  async #stamp(): Promise<boolean> {
    const more = () =>
      this.reader
        .until(({ text }) => text.length > this.#seen)
        .then(
          () => true,
          () => false,
        );
    while (await more()) {
      const now = performance.now();
      const whole = this.reader.text.lastIndexOf('\n\n') + 2;
      for (const [, id] of this.reader.text.slice(this.#seen, whole).matchAll(/^id: (\d+)$/gm)) {
        this.arrivals.set(Number(id), now);
      }
      this.#seen = Math.max(whole, this.#seen + 1);
    }
    return await this.reader.over;
  }
}
