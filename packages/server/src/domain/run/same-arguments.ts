/** Returns equal texts for arguments that are equal JSON values. A text that is no JSON equals only itself. */
export function sameArguments(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text.trim() === '' ? '{}' : text, sortMembers));
  } catch {
    return text;
  }
}

const sortMembers = (_: string, value: unknown): unknown =>
  value === null || typeof value !== 'object' || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
