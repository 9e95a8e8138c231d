/** How long the client waits, in milliseconds. */
export interface Timing {
  /** A connection that sends nothing for this long counts as cut. The server sends a comment every 10 s. */
  readonly silenceMs: number;
  /** After this long without contact a run fails with `ConnectionLostError`; for this long a refusal is retried. */
  readonly giveUpMs: number;
  /** The first pause before a retry. Each further pause is twice as long. */
  readonly minPauseMs: number;
  readonly maxPauseMs: number;
}

export const DEFAULT_TIMING: Timing = { silenceMs: 30_000, giveUpMs: 120_000, minPauseMs: 250, maxPauseMs: 5_000 };

/** Resolves after the time, or rejects with the reason of the signal. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** The pause before a retry, which is twice as long each time. Jitter keeps clients apart that were cut together. */
export const pauseMs = ({ minPauseMs, maxPauseMs }: Timing, retries: number): number =>
  Math.min(minPauseMs * 2 ** retries, maxPauseMs) * (0.5 + Math.random() / 2);

/** Aborts when one of both aborts. */
export const eitherOf = (one: AbortSignal, other?: AbortSignal): AbortSignal =>
  AbortSignal.any(other ? [one, other] : [one]);

/** Aborts its signal after a silence, and when the caller aborts. */
export class Watchdog {
  readonly signal: AbortSignal;
  readonly #silence = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(silenceMs: number, outer?: AbortSignal) {
    const { signal } = this.#silence;
    this.signal = eitherOf(signal, outer);
    this.restart(silenceMs);
  }

  /** Something arrived: the silence begins again. */
  restart(silenceMs: number): void {
    this.stop();
    this.#timer = setTimeout(() => this.#silence.abort(), silenceMs);
  }

  /** Closes the connection. */
  bite(): void {
    this.stop();
    this.#silence.abort();
  }

  /** Ends the limit. The signal of the caller still counts. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}
