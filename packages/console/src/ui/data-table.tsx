import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { PagedList } from '../app/paged-list.ts';
import { formatCount } from '../lib/format.ts';
import { ErrorNotice } from './error-notice.tsx';
import { Loading } from './feedback.tsx';
import { type Peek, usePeek } from './use-peek.ts';

export interface Column<Row> {
  readonly title: string;
  /** True if only screen readers get the title. */
  readonly isTitleHidden?: boolean;
  readonly cell: (row: Row) => ReactNode;
  /** A share of the width; 1 by default. */
  readonly share?: number;
  /** Numbers are aligned at their end. */
  readonly isNumber?: boolean;
  /** Left out on narrow screens. */
  readonly isMinor?: boolean;
}

interface DataTableProps<Row> {
  /** What the rows are, in the plural: `members`. */
  readonly what: string;
  readonly list: PagedList<Row>;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** Shown instead of the table if there are no rows. */
  readonly empty: ReactNode;
  /** Scrolls sideways on narrow screens, because no other page shows what its columns have. */
  readonly isWide?: boolean;
  /** True if the whole row is the link in its first cell. Such a row has no other control. */
  readonly hasRowLinks?: boolean;
  /** The row that is shown at the side. */
  readonly peek?: Peek | undefined;
}

const ROW_PX = 44;
/** The next page is fetched when this many rows are left. */
const ROWS_AHEAD = 60;
/** A row that is scrolled to must not be below the head. */
const HEAD_PX = 48;

/** A list of the API. Only the rows in view are in the document, and further pages are fetched while scrolling. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { what, list, columns, rowKey, empty, isWide = false, hasRowLinks = false, peek } = props;
  const { rows, isLoading, error, hasMore, isLoadingMore, loadMore, retry } = list;
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    if (body.current !== null) setTop(body.current.getBoundingClientRect().top + window.scrollY);
  });
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: 8,
    scrollMargin: top,
    scrollPaddingStart: HEAD_PX,
  });
  const choose = usePeek({
    peek,
    body,
    listKeys: () => rows.map(rowKey),
    scrollTo: (index) => virtualizer.scrollToIndex(index, { align: 'auto' }),
  });
  const inView = virtualizer.getVirtualItems();
  const lastIndex = inView.at(-1)?.index ?? 0;
  const needsMore = hasMore && !isLoadingMore && error === null && lastIndex >= rows.length - ROWS_AHEAD;
  useEffect(() => {
    if (needsMore) loadMore();
  }, [needsMore, loadMore]);

  if (isLoading) return <Loading what={what} />;
  if (rows.length === 0) return error === null ? empty : <ErrorNotice error={error} onRetry={retry} />;

  const total = columns.reduce((sum, { share = 1 }) => sum + share, 0);
  const before = (inView[0]?.start ?? top) - top;
  const after = virtualizer.getTotalSize() - ((inView.at(-1)?.end ?? top) - top);
  // A region that scrolls must be reachable by keyboard.
  const scroll = isWide ? { role: 'region', 'aria-label': what, tabIndex: 0 } : {};
  return (
    <div className="table-frame" {...scroll}>
      <table className={getTableClass(isWide, hasRowLinks)} aria-rowcount={hasMore ? -1 : rows.length + 1}>
        <caption className="visually-hidden">{what}</caption>
        <thead>
          <tr>
            {columns.map(({ title, share = 1, isTitleHidden, isNumber, isMinor }) => (
              <th
                key={title}
                scope="col"
                className={getClass(isNumber, isMinor)}
                style={{ width: `${(100 * share) / total}%` }}
              >
                {isTitleHidden ? <span className="visually-hidden">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} onClickCapture={choose}>
          <Space height={before} />
          {inView.map(({ index }) => {
            const row = rows[index] as Row;
            const id = rowKey(row);
            return (
              <DataRow
                key={id}
                id={id}
                row={row}
                index={index}
                columns={columns as readonly Column<unknown>[]}
                isPeeked={id === peek?.id}
              />
            );
          })}
          <Space height={after} />
        </tbody>
      </table>
      {error !== null && <ErrorNotice error={error} onRetry={retry} />}
      <div className="table-foot row">
        <span role="status">
          {formatCount(rows.length, oneOf(what), what)}
          {hasMore && ' so far; scroll for more'}
        </span>
        {list.isLong && (
          <>
            <span>Long lists are not updated by themselves.</span>
            <button type="button" className="button button-small" onClick={list.restart}>
              Update the list
            </button>
          </>
        )}
      </div>
    </div>
  );
}

/** `member` of `members`, `delivery` of `deliveries`. */
const oneOf = (many: string) => (many === 'people' ? 'person' : many.replace(/ies$/, 'y').replace(/s$/, ''));

interface DataRowProps {
  readonly id: string;
  readonly row: unknown;
  readonly index: number;
  readonly columns: readonly Column<unknown>[];
  readonly isPeeked: boolean;
}

/** Rendered once while it is in view, whatever the table does: a page of links takes most of a frame. */
const DataRow = memo(function DataRow({ id, row, index, columns, isPeeked }: DataRowProps) {
  return (
    <tr data-row={id} aria-rowindex={index + 2} aria-current={isPeeked ? 'true' : undefined}>
      {columns.map(({ title, cell, isNumber, isMinor }) => (
        <td key={title} className={getClass(isNumber, isMinor)}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
});

const getTableClass = (isWide: boolean, hasRowLinks: boolean): string =>
  ['table', isWide && 'table-wide', hasRowLinks && 'table-linked'].filter(Boolean).join(' ');

function getClass(isNumber = false, isMinor = false): string | undefined {
  return [isNumber && 'end', isMinor && 'minor'].filter(Boolean).join(' ') || undefined;
}

/** Has the height of the rows that are not in the document. One cell is enough: narrow screens have fewer columns. */
function Space({ height }: { readonly height: number }) {
  if (height <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without content cannot have the focus.
    <tr className="table-space" aria-hidden="true">
      <td style={{ height }} />
    </tr>
  );
}
