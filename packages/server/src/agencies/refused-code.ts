/** A part of people's code that cannot be used. */
export interface RefusedCode {
  /** Continues a sentence that begins with the name of the part. */
  readonly refused: string;
  /** True if a function is exported in place of a tool. */
  readonly isFunction?: boolean;
}
