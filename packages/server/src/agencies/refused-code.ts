/** A part of people's code that cannot be used. */
export interface RefusedCode {
  /** Continues a sentence that begins with the part's name. */
  readonly refused: string;
  /** True if a function is exported in place of a tool. */
  readonly isFunction?: boolean;
}
