/** Calls that wait for the test, in the order in which they arrived. */
export class CallQueue<Call> {
  readonly #waiting: Call[] = [];
  readonly #takers: ((call: Call) => void)[] = [];

  add(call: Call): void {
    const taker = this.#takers.shift();
    if (taker === undefined) this.#waiting.push(call);
    else taker(call);
  }

  /** Resolves to the next call that was not returned before. */
  nextCall(): Promise<Call> {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) return Promise.resolve(waiting);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  /** Returns the calls that wait, and forgets them. */
  drain(): Call[] {
    return this.#waiting.splice(0);
  }
}
