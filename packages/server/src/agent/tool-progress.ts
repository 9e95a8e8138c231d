import type { Room } from './ports.ts';

/** Two reports of a call are at least this far apart: 9 per second, and the last one before the output is the tenth. */
const PAUSE_MS = 112;
/** The rest of a longer report is cut off. */
export const MAX_PROGRESS_CHARACTERS = 4000;

/**
 * The progress of one call of a tool. The newest report wins: of several reports within a pause, or while the log is full,
 * only the last one is emitted, and never after the call's output.
 */
export class ToolProgress {
  readonly #room: Room;
  readonly #emit: (text: string) => void;
  #waiting: { readonly value: unknown } | null = null;
  #emittedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #isOver = false;

  constructor(room: Room, emit: (text: string) => void) {
    this.#room = room;
    this.#emit = emit;
  }

  /** Texts are shown unchanged, other values as JSON. Bound, because tools take it out of their call. */
  readonly report = (value: unknown): void => {
    if (this.#isOver) return;
    this.#waiting = { value };
    if (this.#timer === null) this.#next();
  };

  #next = (): void => {
    this.#timer = null;
    if (this.#waiting === null) return;
    const pauseMs = this.#emittedAt + PAUSE_MS - performance.now();
    if (pauseMs <= 0 && !this.#room.isFull) this.#emitNow();
    else this.#timer = setTimeout(this.#next, Math.max(1, pauseMs > 0 ? pauseMs : PAUSE_MS)).unref();
  };

  #emitNow(): void {
    if (this.#waiting === null) return;
    const text = shownText(this.#waiting.value);
    this.#waiting = null;
    if (text === null) return;
    this.#emittedAt = performance.now();
    this.#emit(text);
  }

  /** Called before the call's output: emits the report that waits. */
  finish(): void {
    if (!this.#isOver) this.#emitNow();
    this.drop();
  }

  /** From here on nothing is emitted. */
  drop(): void {
    this.#isOver = true;
    this.#waiting = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

/** Does not cut a character of two code units in half. */
const cut = (text: string) => text.slice(0, MAX_PROGRESS_CHARACTERS).replace(/[\ud800-\udbff]$/, '');

/** Made only if the report is emitted: tools can yield large values for each token of another model. */
function shownText(value: unknown): string | null {
  try {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    return text === '' ? null : cut(text).toWellFormed();
  } catch {
    // The value has no JSON. It is code of the agency, and this may be a timer.
    return null;
  }
}
