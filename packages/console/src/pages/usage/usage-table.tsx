import { formatDay, formatNumber } from '../../lib/format.ts';
import type { Series } from './usage-data.ts';

interface UsageTableProps {
  readonly caption: string;
  readonly days: readonly string[];
  /** The columns: the same values as in the plot, and others. */
  readonly columns: readonly { readonly title: string; readonly series: Series; readonly isMinor?: boolean }[];
  readonly format?: (value: number) => string;
  /** False if the values of the days do not add up. */
  readonly hasTotal?: boolean;
}

/** Enough for a name and for large numbers. */
const COLUMN_REM = 7;

/** The plot's data, newest day first. */
export function UsageTable({ caption, days, columns, format = formatNumber, hasTotal = true }: UsageTableProps) {
  const rows = days
    .map((day, index) => ({ day, values: columns.map(({ series }) => series.values[index] ?? 0) }))
    .filter(({ values }) => values.some((value) => value !== 0))
    .toReversed();
  const isWide = columns.length > 5;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section className="table-frame usage-table" aria-label={caption} tabIndex={0}>
      <table className="table" style={isWide ? { minWidth: `${(columns.length + 1) * COLUMN_REM}rem` } : undefined}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            {columns.map(({ title, series, isMinor }) => (
              <th key={`${series.key} ${title}`} scope="col" className={isMinor ? 'end minor' : 'end'} title={title}>
                <bdi>{title}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ day, values }) => (
            <tr key={day} data-row>
              <th scope="row">{formatDay(day)}</th>
              {columns.map(({ title, series, isMinor }, index) => (
                <td key={`${series.key} ${title}`} className={isMinor ? 'end minor' : 'end'}>
                  {format(values[index] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {hasTotal && (
          <tfoot>
            <tr>
              <th scope="row">Total</th>
              {columns.map(({ title, series, isMinor }) => (
                <td key={`${series.key} ${title}`} className={isMinor ? 'end minor' : 'end'}>
                  {format(series.total)}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  );
}
