import type { Histogram } from './exposition.ts';

/** Ten observations a second: a timer costs one microsecond, and a delay of one second is always seen. */
const INTERVAL_MS = 100;

/**
 * Observes the delay of timers. During this delay no request is answered, because other work occupies the event loop.
 * Node's `monitorEventLoopDelay` has no buckets that Prometheus can add up over time.
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
