/** What waits, taken in turns: one of each, however many one has. */
export class Turns<T> {
  readonly #waiting = new Map<string, T[]>();

  add(whose: string, item: T): void {
    const theirs = this.#waiting.get(whose);
    if (theirs === undefined) this.#waiting.set(whose, [item]);
    else theirs.push(item);
  }

  take(): T | undefined {
    for (const [whose, theirs] of this.#waiting) {
      const item = theirs.shift();
      // To the end of the round.
      this.#waiting.delete(whose);
      if (theirs.length > 0) this.#waiting.set(whose, theirs);
      return item;
    }
    return undefined;
  }

  remove(whose: string, item: T): void {
    const rest = this.#waiting.get(whose)?.filter((other) => other !== item) ?? [];
    if (rest.length > 0) this.#waiting.set(whose, rest);
    else this.#waiting.delete(whose);
  }
}
