import type { List, Page } from '@runwire/client';
import type { ComponentType, ReactNode } from 'react';
import { type PagedList, usePagedList } from '../../app/paged-list.ts';
import type { Column } from '../../ui/data-table.tsx';

/** The filters of a list as the address has them, and what else it shows. */
export type ListSearch = Readonly<Partial<Record<string, string>>>;

export interface PeekProps {
  readonly integration: string;
  readonly id: string;
}

/** One of the lists of an integration: its runs or its chats. */
export interface ListKind<Row> {
  /** In the plural: `runs`. */
  readonly what: string;
  readonly read: (integration: string, search: ListSearch, signal: AbortSignal) => List<Row, Page<Row>>;
  /** The list is read again after this time. */
  readonly refetchMs: (rows: readonly Row[]) => number;
  /** The first column has the link of the row. */
  readonly columns: (integration: string) => readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** What the side shows of a row. */
  readonly Peek: ComponentType<PeekProps>;
  /** Shown if the integration has no row at all. */
  readonly none: (integration: string) => ReactNode;
}

/** Reads the list. Only the fields of the address that the API gets belong to it. */
export function useKindList<Row>(kind: ListKind<Row>, integration: string, search: ListSearch): PagedList<Row> {
  const { last: _last, peek: _peek, compare: _compare, ...filters } = search;
  return usePagedList([kind.what, integration, 'list', filters], (signal) => kind.read(integration, filters, signal), {
    refetchMs: kind.refetchMs,
  });
}
