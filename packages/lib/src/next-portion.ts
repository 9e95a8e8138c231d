/** Returns the next rows that are handled together: at least one, and otherwise not more than `maxBytes` and `maxRows`. */
export function nextPortion<R extends { readonly bytes: number }>(
  rows: readonly R[],
  maxBytes: number,
  maxRows = Number.POSITIVE_INFINITY,
): R[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += Number(row.bytes);
    return index > 0 && (bytes > maxBytes || index === maxRows);
  });
  return rows.slice(0, end === -1 ? rows.length : end);
}
