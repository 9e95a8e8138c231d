export type LaterIssue = 'Rate limits';

/** One sentence or table row of the specification (`spec-…`), the contract (`contract-…`) or the rules of agents (`agents-…`). */
export interface Requirement {
  /** Stable: tests cite it. */
  readonly id: string;
  /** The section of the document that contains the quote. */
  readonly section: string;
  /** The sentence or row itself, white space folded; `[…]` stands for the part that another id quotes. */
  readonly quote: string;
  /** The issue that brings it; absent: a passing test must cite it. */
  readonly later?: LaterIssue;
}
