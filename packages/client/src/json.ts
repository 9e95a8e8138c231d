/** Parses a JSON object. Returns an empty object for any other text. */
export function parseObject(text: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(text) };
  } catch {
    return {};
  }
}
