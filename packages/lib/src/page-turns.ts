/** Permission to read one page. Disposing it ends the page. */
export type PageTurn = Disposable;

/** Takes one owner's next turn. */
export type TakeTurn = () => PageTurn | Promise<PageTurn>;

/** A turn of the event loop that took less time had nothing else to do. An empty one takes about 10 µs. */
const IDLE_MS = 0.1;
/** Other pages do not wait longer for a page whose store does not answer. */
const STUCK_MS = 250;

/**
 * Shares the event loop between loops that read page by page: exports, lists, readers of stored events. On the embedded
 * store a page resolves in a microtask, so a loop over pages would let nothing else happen until its end.
 *
 * When no page was read for a while, and none in this turn of the event loop: the page is read immediately, without a
 * wait. Otherwise it waits in the queue of its owner. Each turn of the event loop grants at most one page, and the queues take turns, so the length of one does not
 * delay the others. After a page, other work gets as much time as the page took, unless there is none. The event loop
 * accepts one connection per turn, so without these pauses a burst of 400 connections would wait for 400 pages.
 */
export class PageTurns {
  readonly #maxConcurrent: number;
  /** In their next turn's order. */
  readonly #queues = new Map<string, ((turn: PageTurn) => void)[]>();
  readonly #open = new Set<PageTurn>();
  #restUntil = 0;
  #hasReadInTurn = false;
  #lookedAt = 0;
  #looks = false;
  #stuck: NodeJS.Timeout | null = null;

  /** `maxConcurrent` pages are read at a time. More than one makes sense if the store answers from another process. */
  constructor(maxConcurrent: number) {
    this.#maxConcurrent = maxConcurrent;
  }

  take(ownerId: string): PageTurn | Promise<PageTurn> {
    if (this.#queues.size === 0 && !this.#hasReadInTurn && this.#hasRoom() && performance.now() >= this.#restUntil)
      return this.#begin();
    return new Promise((resolve) => {
      const queue = this.#queues.get(ownerId);
      if (queue === undefined) this.#queues.set(ownerId, [resolve]);
      else queue.push(resolve);
      this.#lookSoon();
    });
  }

  #hasRoom(): boolean {
    return this.#open.size < this.#maxConcurrent;
  }

  #begin(): PageTurn {
    const beganAt = performance.now();
    const turn = { [Symbol.dispose]: () => this.#end(turn, beganAt) };
    this.#open.add(turn);
    return turn;
  }

  #end(turn: PageTurn, beganAt: number): void {
    if (!this.#open.delete(turn)) return;
    const now = performance.now();
    this.#restUntil = now + Math.min(now - beganAt, STUCK_MS);
    if (!this.#hasReadInTurn) {
      this.#hasReadInTurn = true;
      setImmediate(this.#beginTurn);
    }
    this.#lookSoon();
  }

  #lookSoon(): void {
    if (this.#looks || this.#queues.size === 0) return;
    if (!this.#hasRoom()) {
      this.#stuck ??= setTimeout(this.#forgetStuck, STUCK_MS);
      return;
    }
    if (this.#stuck !== null) clearTimeout(this.#stuck);
    this.#stuck = null;
    this.#looks = true;
    this.#lookedAt = performance.now();
    setImmediate(this.#look);
  }

  #beginTurn = (): void => {
    this.#hasReadInTurn = false;
  };

  #look = (): void => {
    this.#looks = false;
    const now = performance.now();
    if (now >= this.#restUntil || now - this.#lookedAt < IDLE_MS) this.#grant();
    this.#lookSoon();
  };

  #grant(): void {
    for (const [ownerId, queue] of this.#queues) {
      this.#queues.delete(ownerId);
      const resolve = queue.shift();
      if (queue.length > 0) this.#queues.set(ownerId, queue);
      resolve?.(this.#begin());
      return;
    }
  }

  #forgetStuck = (): void => {
    this.#stuck = null;
    this.#open.clear();
    this.#lookSoon();
  };
}
