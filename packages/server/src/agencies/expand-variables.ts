/** Returns an environment variable's value, or null if it is not set. */
export type ReadVariable = (name: string) => string | null;

const VARIABLE = /\$\{([^}]*)\}/g;

/** Replaces `${NAME}` by the variable's value. Returns undefined and reports a variable that is not set. */
export function expandVariables(
  text: string,
  variable: ReadVariable,
  report: (problem: string) => void,
): string | undefined {
  let isWhole = true;
  const result = text.replaceAll(VARIABLE, (_, name: string) => {
    const value = variable(name);
    if (value !== null) return value;
    isWhole = false;
    report(`The environment variable \`${name}\` is not set; set it, and start the server again.`);
    return '';
  });
  return isWhole ? result : undefined;
}
