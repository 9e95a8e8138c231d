import type { Kysely } from 'kysely';
import { decodeCursor, type ListPosition } from '../domain/list-cursor.ts';
import { cursorBy, type ListPage, pageOfRows } from '../domain/list-page.ts';
import type { Page } from './queries/page.ts';
import type { Schema } from './schema.ts';
import type { QueryOf, Reads } from './store.ts';

/** What every list takes. */
export interface ListQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

export const DEFAULT_LIMIT = 50;

/** A page of a list whose rows are small. `LargePages` reads the others. */
export async function readPage<R>(
  reads: Reads,
  query: ListQuery,
  list: (page: Page) => (db: Kysely<Schema>) => QueryOf<R>,
  position: (row: R) => ListPosition,
  show: (row: R) => unknown,
): Promise<ListPage> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  // One more than is shown: if it exists, there is another page.
  const rows = await reads.query(list({ before: decodeCursor(query.cursor), limit: limit + 1 }));
  return pageOfRows(rows, limit, cursorBy(position), show);
}
