import type { Kysely } from 'kysely';
import { decodeCursor, type ListPosition, page } from '../domain/list-cursor.ts';
import type { Page } from './queries/page.ts';
import type { Schema } from './schema.ts';
import type { QueryOf, Reads } from './store.ts';

/** What every list takes. */
export interface ListQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

const DEFAULT_LIMIT = 50;

/** A page of a list as callers ask for it and get it. */
export async function readPage<R, T>(
  reads: Reads,
  query: ListQuery,
  list: (page: Page) => (db: Kysely<Schema>) => QueryOf<R>,
  position: (row: R) => ListPosition,
  show: (row: R) => T | Promise<T>,
): Promise<{ items: T[]; nextCursor: string | null }> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  // One more than is shown: whether there is another page.
  const rows = await reads.query(list({ before: decodeCursor(query.cursor), limit: limit + 1 }));
  const { items, nextCursor } = page(rows, limit, position, show);
  return { items: await Promise.all(items), nextCursor };
}
