/**
 * A text that a statement compares with a column of ids: of a request, which the found row checks, or a position among
 * the ids. Only statements may use it.
 */
export const soughtId = <Id extends string>(text: string): Id => text as Id;
