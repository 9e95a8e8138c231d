import { monotonicMs } from '@runwire/lib/monotonic.ts';

/** The largest value that was observed within one to two windows of time. It keeps two numbers. */
export class RecentMaximum {
  readonly #windowMs: number;
  readonly #now: () => number;
  #window = 0;
  #current = 0;
  #previous = 0;

  constructor(windowMs: number, now: () => number = monotonicMs) {
    this.#windowMs = windowMs;
    this.#now = now;
  }

  observe(value: number): void {
    this.#turn();
    this.#current = Math.max(this.#current, value);
  }

  /** 0 if nothing was observed. */
  get value(): number {
    this.#turn();
    return Math.max(this.#current, this.#previous);
  }

  #turn(): void {
    const window = Math.floor(this.#now() / this.#windowMs);
    if (window === this.#window) return;
    this.#previous = window === this.#window + 1 ? this.#current : 0;
    this.#current = 0;
    this.#window = window;
  }
}
