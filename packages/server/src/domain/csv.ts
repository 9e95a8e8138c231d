const NEEDS_QUOTES = /[",\r\n]/;

/**
 * Spreadsheets evaluate a field that starts with one of these as a formula. Some convert the plain characters to the
 * full-width forms.
 */
const STARTS_FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/**
 * Encodes one row as in RFC 4180: CRLF at its end, quotes only if needed, quotes inside doubled. An apostrophe before text
 * that a spreadsheet would evaluate makes it plain text. Null is the empty field.
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
