import type { Histogram } from './exposition.ts';

/** Ten observations a second: a timer costs a microsecond, and a delay of a second is seen for certain. */
const INTERVAL_MS = 100;

/**
 * Observes how late timers run. During this delay no request is answered, because something else occupies the event loop.
 * Node's own `monitorEventLoopDelay` has no buckets that Prometheus could add up over time.
 */
export class EventLoopDelay implements Disposable {
  readonly #timer: NodeJS.Timeout;

  constructor(histogram: Histogram) {
    let last = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      histogram.observe(Math.max(0, now - last - INTERVAL_MS));
      last = now;
    }, INTERVAL_MS);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
