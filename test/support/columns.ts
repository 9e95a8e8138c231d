/** The values of one field of a list. */
export const pickColumn = (items: readonly object[], field: string): unknown[] =>
  items.map((item) => (item as Record<string, unknown>)[field]);

/** The values of several fields of a list: one row for each item. */
export const toRows = (items: readonly object[], ...fields: string[]): unknown[][] =>
  items.map((item) => fields.map((field) => (item as Record<string, unknown>)[field]));
