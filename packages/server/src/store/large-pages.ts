import type { FairBudget } from '@runwire/lib/fair-budget.ts';
import { nextPortion } from '@runwire/lib/next-portion.ts';
import type { PageTurns, TakeTurn } from '@runwire/lib/page-turns.ts';
import type { OwnerId } from '../domain/ids.ts';
import { decodeCursor, encodeCursor, type ListPosition } from '../domain/list-cursor.ts';
import { ListPage, MAX_PAGE_BYTES } from '../domain/list-page.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Page } from './queries/page.ts';
import { DEFAULT_LIMIT, type ListQuery } from './read-page.ts';

export interface LargeListQuery extends ListQuery {
  /** The owner that reads the list. */
  readonly ownerId: OwnerId;
  /** True if the caller closed the connection: no client would read the page. */
  readonly hasLeft: () => boolean;
}

export interface RowSize {
  readonly created_at: number;
  readonly id: string;
  readonly bytes: number;
}

/** A list whose rows can have many bytes. */
export interface LargeList<R> {
  /** Reads the positions and sizes of the rows of a page, without the rows. */
  sizes(page: Page): Promise<RowSize[]>;
  rows(page: Page): Promise<R[]>;
  /** For a list that may end a page early: the last row that `sizes` has read, or null if there are no more rows. */
  readTo?(): ListPosition | null;
  position(row: R): ListPosition;
  /** The JSON of an item. */
  show(row: R): string | Promise<string>;
  /** True if the JSON of an item has at least as many bytes as its row. Otherwise a page can show more than 4 MiB of rows. */
  readonly showsAll: boolean;
}

/** Smaller pages are not counted while they are not sent. */
const SMALL_BYTES = 256 * 1024;
/** What is read and serialised in one turn of the event loop: a few milliseconds, unless one row is larger. */
const PORTION_BYTES = 512 * 1024;
const PORTION_ROWS = 50;

/**
 * Reads lists whose rows can have many bytes, such as messages. It reads the sizes first, then portions of rows of at
 * most 512 KiB, or one row, until the page is full: so it never reads what the page does not show. Owners take turns with
 * their portions.
 */
export class LargePages {
  readonly #turns: PageTurns;
  readonly #unsentBytes: FairBudget;

  /** `unsentBytes` bounds what the server holds for callers that do not read their answers. */
  constructor(turns: PageTurns, unsentBytes: FairBudget) {
    this.#turns = turns;
    this.#unsentBytes = unsentBytes;
  }

  /** Takes turns of the owner that reads the list, for what is read before its page. */
  turnsOf({ ownerId, hasLeft }: LargeListQuery): TakeTurn {
    return async () => {
      const turn = await this.#turns.take(ownerId);
      if (!hasLeft()) return turn;
      turn[Symbol.dispose]();
      throw connectionClosed();
    };
  }

  async read<R>(query: LargeListQuery, list: LargeList<R>): Promise<ListPage> {
    const sizes = await this.#sizes(query.ownerId, list, toPage(query));
    const page = await this.#readWithin(query, sizes, list);
    const readTo = list.readTo?.() ?? null;
    if (page.nextCursor === null && readTo !== null) page.nextCursor = encodeCursor(readTo);
    return page;
  }

  async #readWithin<R>(query: LargeListQuery, sizes: readonly RowSize[], list: LargeList<R>): Promise<ListPage> {
    const { ownerId, limit = DEFAULT_LIMIT } = query;
    const bytes = Math.min(sum(sizes.slice(0, limit)), MAX_PAGE_BYTES);
    if (bytes <= SMALL_BYTES) return this.#read(query, sizes, list);
    // Reserved as a whole and before any turn: a page that waits holds nothing that another page waits for.
    const hold = await this.#unsentBytes.reserve(ownerId, bytes, new AbortController().signal);
    try {
      const page = await this.#read(query, sizes, list);
      hold.shrinkTo(page.bytes);
      page.onSent = () => hold[Symbol.dispose]();
      return page;
    } catch (error) {
      hold[Symbol.dispose]();
      throw error;
    }
  }

  async #sizes<R>(ownerId: OwnerId, list: LargeList<R>, page: Page): Promise<RowSize[]> {
    using _turn = await this.#turns.take(ownerId);
    return await list.sizes(page);
  }

  async #read<R>(
    { ownerId, limit = DEFAULT_LIMIT, hasLeft }: LargeListQuery,
    sizes: readonly RowSize[],
    list: LargeList<R>,
  ): Promise<ListPage> {
    const page = new ListPage();
    let rest: readonly RowSize[] = sizes;
    let end: ListPosition | undefined;
    let last: R | undefined;
    let isFull = false;
    while (page.length < limit && !isFull) {
      const portion = nextPortion(rest.slice(0, limit - page.length), PORTION_BYTES, PORTION_ROWS);
      const [first] = portion;
      if (first === undefined || (list.showsAll && !page.hasRoomFor(Number(first.bytes)))) break;
      using _turn = await this.#turns.take(ownerId);
      if (hasLeft()) throw connectionClosed();
      const rows = await list.rows({ before: { ...getPosition(first), inclusive: true }, limit: portion.length });
      const items = await Promise.all(rows.map((row) => list.show(row)));
      for (const [index, item] of items.entries()) {
        isFull = !page.add(item);
        if (isFull) break;
        last = rows[index];
      }
      // Rows may have been added or deleted since the sizes were read: the next portion follows the rows, not the sizes.
      const lastRow = rows.at(-1);
      const after = lastRow === undefined ? getPosition(portion.at(-1) ?? first) : list.position(lastRow);
      rest = rest.filter((row) => isOlder(getPosition(row), after));
      end = after;
    }
    if (isFull && last !== undefined) end = list.position(last);
    if ((isFull || rest.length > 0) && end !== undefined) page.nextCursor = encodeCursor(end);
    return page;
  }
}

/** One more than is shown: if it exists, there is another page. */
export const toPage = ({ cursor, limit = DEFAULT_LIMIT }: ListQuery): Page => ({
  before: decodeCursor(cursor),
  limit: limit + 1,
});

const connectionClosed = () => new Refusal('invalid_request', 'The connection closed before the answer.');

const getPosition = (row: RowSize): ListPosition => ({ createdAt: Number(row.created_at), id: row.id });

/** Lists are newest first. Ids are ASCII, so they are compared here as both stores compare them. */
const isOlder = (one: ListPosition, other: ListPosition): boolean =>
  one.createdAt < other.createdAt || (one.createdAt === other.createdAt && one.id < other.id);

const sum = (sizes: readonly RowSize[]): number => sizes.reduce((bytes, row) => bytes + Number(row.bytes), 0);
