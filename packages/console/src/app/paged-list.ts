import type { List, Page } from '@runwire/client';
import { type QueryKey, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { queryClient } from './query-client.ts';
import { measured, pollMs } from './traffic.ts';

/** A list of the API as far as it was read. */
export interface PagedList<Row> {
  readonly rows: readonly Row[];
  /** True until the first page arrives. */
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
  readonly retry: () => void;
  /** True if it is so long that it is not read again by itself. */
  readonly isLong: boolean;
  /** Reads the first page again, and forgets the others. */
  readonly restart: () => void;
}

interface PagedListOptions<Row> {
  /** Reads the list again after this time, which may depend on the rows; later if the list has many bytes. */
  readonly refetchMs?: number | ((rows: readonly Row[]) => number);
}

/** Long lists take memory, so they are forgotten soon after their page is left. */
const KEEP_MS = 10_000;

interface KeptPage<Row> {
  items: readonly Row[];
  readonly nextCursor: string | null;
}

// V8 keeps a few removed queries, through the getter of `signal` of one of their requests. They must not keep rows too.
queryClient.getQueryCache().subscribe(({ type, query }) => {
  if (type !== 'removed' || query.getObserversCount() > 0) return;
  const { pages = [] } = (query.state.data ?? {}) as { readonly pages?: readonly KeptPage<unknown>[] };
  for (const page of pages) page.items = [];
});

/** Longer lists are not read again by themselves: each page is a request. */
const MAX_REFETCHED_PAGES = 2;
const isLong = (pages: readonly unknown[] = []) => pages.length > MAX_REFETCHED_PAGES;

/** True if the keys differ in their filters only, which are an object at the end. Rows of anything else are not shown. */
const hasOtherFilters = (key: QueryKey, before: QueryKey | undefined): boolean =>
  typeof key.at(-1) === 'object' && JSON.stringify(key.slice(0, -1)) === JSON.stringify(before?.slice(0, -1));

/** Reads a list page by page. The rows stay in view while other filters are read. */
export function usePagedList<Row>(
  queryKey: QueryKey,
  list: (signal: AbortSignal) => List<Row, Page<Row>>,
  { refetchMs }: PagedListOptions<Row> = {},
): PagedList<Row> {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }): Promise<KeptPage<Row>> =>
      measured([...queryKey, pageParam], () => list(signal).page(pageParam ?? undefined)),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: (rows, query) => (hasOtherFilters(queryKey, query?.queryKey) ? rows : undefined),
    gcTime: KEEP_MS,
    refetchOnWindowFocus: ({ state: { data } }) => !isLong(data?.pages),
    refetchInterval: ({ state: { data } }) => {
      if (refetchMs === undefined || data === undefined || isLong(data.pages)) return false;
      const ms = typeof refetchMs === 'number' ? refetchMs : refetchMs(data.pages.flatMap(({ items }) => items));
      return pollMs(
        data.pageParams.map((pageParam) => [...queryKey, pageParam]),
        ms,
      );
    },
  });
  const client = useQueryClient();
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = query;
  const rows = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data]);
  return {
    rows,
    isLoading: isPending,
    error,
    hasMore: hasNextPage,
    isLoadingMore: isFetchingNextPage,
    loadMore: () => void fetchNextPage({ cancelRefetch: false }),
    retry: () => void refetch(),
    isLong: isLong(data?.pages),
    restart: () => void client.resetQueries({ queryKey, exact: true }),
  };
}

/** The result of a query that reads a whole list. */
interface WholeResult<Row> {
  readonly data: readonly Row[] | undefined;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly refetch: () => unknown;
}

/** A list that is short enough to be read as a whole, for the same table. */
export function wholeList<Row>({ data, error, isPending, refetch }: WholeResult<Row>): PagedList<Row> {
  return {
    rows: data ?? [],
    isLoading: isPending,
    error,
    hasMore: false,
    isLoadingMore: false,
    loadMore: () => {},
    retry: () => void refetch(),
    isLong: false,
    restart: () => void refetch(),
  };
}
