import type { TakeTurn } from '@runwire/lib/page-turns.ts';
import { encodeCsvRow } from '../domain/csv.ts';
import type { ListPosition } from '../domain/list-cursor.ts';
import type { Page } from './queries/page.ts';

/** How many rows are in memory at a time, and are read and encoded in one turn of the event loop: about 3 ms. */
const PAGE_ROWS = 100;

export interface CsvList<R> {
  readonly header: readonly string[];
  rows(page: Page): Promise<readonly R[]>;
  fields(row: R): readonly (string | number | null)[];
  position(row: R): ListPosition;
}

/** Yields a whole list as CSV, page by page. Each page waits for its owner's turn. */
export async function* readCsv<R>(
  takeTurn: TakeTurn,
  { header, rows: read, fields, position }: CsvList<R>,
  limit: number = PAGE_ROWS,
): AsyncGenerator<string> {
  let text = encodeCsvRow(header);
  let before: ListPosition | null = null;
  do {
    {
      using _turn = await takeTurn();
      const rows: readonly R[] = await read({ before, limit });
      for (const row of rows) text += encodeCsvRow(fields(row));
      const last = rows.at(-1);
      before = last === undefined || rows.length < limit ? null : position(last);
    }
    // The reader may be slow, so the turn is over here.
    yield text;
    text = '';
  } while (before !== null);
}
