import { encodeCursor, type ListPosition } from './list-cursor.ts';

const MEBIBYTE = 1024 * 1024;

/** A page ends after 200 items or 4 MiB of JSON and has at least one item (`contract-3-page-bytes`). */
export const MAX_PAGE_BYTES = 4 * MEBIBYTE;

/** A page of a list. It holds the JSON of its items, which is encoded one by one and sent as it is. */
export class ListPage {
  readonly #items: Buffer[] = [];
  readonly #maxBytes: number;
  #bytes = 0;
  nextCursor: string | null = null;
  /** Called when the answer has been sent, or its connection has closed. */
  onSent: () => void = () => {};

  constructor(maxBytes = MAX_PAGE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#items.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** True if an item of so many bytes may be added; the first one always may. */
  hasRoomFor(bytes: number): boolean {
    return this.#items.length === 0 || this.#bytes + bytes <= this.#maxBytes;
  }

  /** Returns false if the item would cross the limit: it begins the next page. */
  add(json: string): boolean {
    const item = Buffer.from(this.#items.length === 0 ? json : `,${json}`);
    if (!this.hasRoomFor(item.length)) return false;
    this.#items.push(item);
    this.#bytes += item.length;
    return true;
  }

  /** The whole answer. */
  get json(): Buffer {
    const rest = `],"nextCursor":${JSON.stringify(this.nextCursor)}}`;
    return Buffer.concat([Buffer.from('{"items":['), ...this.#items, Buffer.from(rest)]);
  }
}

/** Makes a page of rows that are in memory. `rows` holds one more than `limit` if there is another page. */
export function pageOfRows<R>(
  rows: readonly R[],
  limit: number,
  getCursor: (row: R) => string,
  show: (row: R) => unknown,
): ListPage {
  const page = new ListPage();
  let last: R | undefined;
  for (const row of rows) {
    if (page.length === limit || !page.add(JSON.stringify(show(row)))) break;
    last = row;
  }
  if (page.length < rows.length && last !== undefined) page.nextCursor = getCursor(last);
  return page;
}

export const cursorBy =
  <R>(position: (row: R) => ListPosition) =>
  (row: R): string =>
    encodeCursor(position(row));

/** Returns the JSON of an object with one more member, whose value is JSON already, so that a long text is not parsed. */
export function jsonWith(object: object, name: string, json: string): string {
  return `${JSON.stringify(object).slice(0, -1)},${JSON.stringify(name)}:${json}}`;
}
