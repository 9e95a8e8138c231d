/** One list item or table row of a page in `docs/contract`. */
export interface Requirement {
  /** Stable: tests cite it. */
  readonly id: string;
  /** The sentence or the row's cells, with white space folded and without the id. */
  readonly text: string;
  /** The page's path from the repository's root. */
  readonly page: string;
  readonly line: number;
}
