const NEEDS_QUOTES = /[",\r\n]/;

/**
 * Spreadsheets take a field that begins so for a formula and run it. The full-width forms are what some of them make
 * of the plain ones.
 */
const STARTS_FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/**
 * One row as RFC 4180 writes it: CRLF at its end, quotes where they are needed, quotes inside doubled. Text that a
 * spreadsheet would run gets an apostrophe in front, which shows it as text. Null is the empty field.
 */
export function encodeCsvRow(fields: readonly (string | number | null)[]): string {
  return `${fields.map(encodeField).join(',')}\r\n`;
}

function encodeField(field: string | number | null): string {
  if (field === null) return '';
  if (typeof field === 'number') return String(field);
  const text = STARTS_FORMULA.test(field) ? `'${field}` : field;
  return NEEDS_QUOTES.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}
