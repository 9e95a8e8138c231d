import { useMemo } from 'react';
import { parseCsv } from '../../lib/csv.ts';

/** More would make the page slow. */
const MAX_ROWS = 200;
const MAX_COLUMNS = 30;

/** A table's first rows. The first one has the titles. */
export function CsvTable({ text }: { readonly text: string }) {
  // One more than is shown: if it exists, the table is cut.
  const [titles = [], ...rows] = useMemo(() => parseCsv(text, MAX_ROWS + 2), [text]);
  const shown = rows.slice(0, MAX_ROWS);
  const width = [titles, ...shown].reduce((most, row) => Math.max(most, row.length), 0);
  const columns = Array.from({ length: Math.min(width, MAX_COLUMNS) }, (_, index) => index);
  const isCut = rows.length > MAX_ROWS || width > MAX_COLUMNS;
  return (
    <>
      <table className="csv">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {titles[column] || <span className="visually-hidden">Column {column + 1}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a file have no other identity.
            <tr key={index}>
              {columns.map((column) => (
                <td key={column}>{row[column]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {isCut && (
        <p className="small muted">
          Only the first {MAX_ROWS} rows and {MAX_COLUMNS} columns are shown as a table.
        </p>
      )}
    </>
  );
}
