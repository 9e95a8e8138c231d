/** Only white space is blank. */
export function isBlank(value: string): boolean {
  return value.trim().length === 0;
}
