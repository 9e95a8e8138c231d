declare const kind: unique symbol;

/**
 * A text that was checked or loaded. Only the module that does so makes one from a string, so a string of a caller cannot
 * be used without the check.
 */
export type CheckedText<Kind extends string> = string & { readonly [kind]: Kind };
