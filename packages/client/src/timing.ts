/** How long the client waits, in milliseconds. */
export interface Timing {
  /** A connection that sends nothing for this long counts as cut. The server sends a comment every 10 s. */
  readonly silenceMs: number;
  /** After this long without contact a run fails with `ConnectionLostError`; for this long a refusal is retried. */
  readonly giveUpMs: number;
  /** The same as long as the client never got any answer: then the address is wrong, or no server runs there. */
  readonly connectMs: number;
  /** The first pause before a retry. Each further pause is twice as long. */
  readonly minPauseMs: number;
  readonly maxPauseMs: number;
}

export const DEFAULT_TIMING: Timing = {
  ...{ silenceMs: 30_000, giveUpMs: 120_000, connectMs: 10_000, minPauseMs: 250, maxPauseMs: 5_000 },
};

/** Resolves after the time, or rejects with the signal's reason. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      // A caller's signal may outlive many pauses.
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort);
  });
}

/** The pause before a retry, which is twice as long each time. Jitter keeps clients apart that were cut together. */
export const pauseMs = ({ minPauseMs, maxPauseMs }: Timing, retries: number): number =>
  Math.min(minPauseMs * 2 ** retries, maxPauseMs) * (0.5 + Math.random() / 2);

/** Aborts when one of both aborts. */
export const joinSignals = (one: AbortSignal, other?: AbortSignal): AbortSignal =>
  AbortSignal.any(other ? [one, other] : [one]);

/** Slow links may take one second per this many bytes of a request. */
const BYTES_PER_SECOND = 65_536;

/** Aborts its signal after a silence, and when the caller aborts. */
export class Watchdog {
  readonly signal: AbortSignal;
  readonly #silence = new AbortController();
  readonly #silenceMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** The first silence may be longer, because it includes the sending of these bytes. */
  constructor({ silenceMs }: Timing, bytes: number, outer?: AbortSignal) {
    this.signal = joinSignals(this.#silence.signal, outer);
    this.#silenceMs = silenceMs;
    this.restart(silenceMs + (1000 * bytes) / BYTES_PER_SECOND);
  }

  /** Something arrived: the silence begins again. */
  restart(silenceMs = this.#silenceMs): void {
    this.stop();
    this.#timer = setTimeout(() => this.abort(new Error(`nothing arrived for ${silenceMs / 1000} s`)), silenceMs);
  }

  /** Closes the connection. */
  abort(reason?: Error): void {
    this.stop();
    this.#silence.abort(reason);
  }

  /** Ends the limit. The signal of the caller still counts. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** Calls back for every piece of a stream. */
export const watched = (
  stream: ReadableStream<Uint8Array>,
  onPiece: (bytes: number) => void,
): ReadableStream<Uint8Array> =>
  stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        onPiece(piece.byteLength);
        controller.enqueue(piece);
      },
    }),
  );
