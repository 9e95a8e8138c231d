/** Returns a thrown value's message. Code of an agency can throw a value whose fields throw when they are read. */
export function errorText(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return 'it threw a value that cannot be read';
  }
}
