/** One list item or table row of a page in `docs/contract`. */
export interface Requirement {
  /** Stable: tests cite it. */
  readonly id: string;
  /** The sentence or the cells of the row, with white space folded and without the id. */
  readonly text: string;
  /** The path of the page from the root of the repository. */
  readonly page: string;
  readonly line: number;
}
