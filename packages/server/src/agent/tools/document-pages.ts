/**
 * A converted document's pages. The converter writes a line `[Page 1]` before the first page, and an empty line and
 * `[Page 2]` before the second one. A page can contain such lines itself, so only the next number in order begins a page.
 */
export class DocumentPages {
  /** The line numbers of `[Page 1]`, `[Page 2]` and so on. Empty if the document has no pages. */
  readonly #starts: readonly number[];

  constructor(text: string) {
    const starts: number[] = [];
    if (text.startsWith('[Page 1]\n')) {
      let isBefore = true;
      for (const [index, line] of text.split('\n').entries()) {
        if (isBefore && line === `[Page ${starts.length + 1}]`) starts.push(index + 1);
        isBefore = line === '';
      }
    }
    this.#starts = starts;
  }

  get count(): number {
    return this.#starts.length;
  }

  /** Returns the number of the page that a line belongs to, or null if there are no pages. */
  of(line: number): number | null {
    const after = this.#starts.findIndex((start) => start > line);
    return this.count === 0 ? null : after === -1 ? this.count : after;
  }

  /** Returns the number of the first line of a page, or null if there is no such page. */
  toLine(page: number): number | null {
    return this.#starts[page - 1] ?? null;
  }
}
