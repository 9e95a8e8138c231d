export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** A list of the API: an iterator over all items, which reads page after page. */
export class List<Item, P extends Page<Item> = Page<Item>> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Promise<P>;

  constructor(read: (cursor: string | undefined) => Promise<P>) {
    this.#read = read;
  }

  /** Reads one page, the first by default. */
  page(cursor?: string): Promise<P> {
    return this.#read(cursor);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    let cursor: string | null | undefined;
    do {
      const { items, nextCursor }: P = await this.#read(cursor ?? undefined);
      yield* items;
      cursor = nextCursor;
    } while (cursor !== null);
  }
}
