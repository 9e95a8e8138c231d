import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';

/** Where the next page of a list goes on: after the row of this time and id, towards older ones. */
export interface PageStart {
  readonly createdAt: number;
  readonly id: string;
}

export interface Page {
  readonly before: PageStart | null;
  readonly limit: number;
}

/** "newest first": rows older than the page's start, by time and then by id. */
export function olderThan(before: PageStart | null, createdAt: string, id: string): RawBuilder<boolean> {
  if (before === null) return sql<boolean>`1 = 1`;
  const at = sql.ref(createdAt);
  return sql<boolean>`(${at} < ${before.createdAt} or (${at} = ${before.createdAt} and ${sql.ref(id)} < ${before.id}))`;
}

/** "Lists are newest first without exception": a page of these rows in that order. */
export function pageOf<DB, TB extends keyof DB, R>(
  rows: SelectQueryBuilder<DB, TB, R>,
  page: Page,
  createdAt: string,
  id: string,
): SelectQueryBuilder<DB, TB, R> {
  return rows
    .where(olderThan(page.before, createdAt, id))
    .orderBy(sql.ref(createdAt), 'desc')
    .orderBy(sql.ref(id), 'desc')
    .limit(page.limit);
}
