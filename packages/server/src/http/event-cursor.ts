/**
 * Parses the id of the last event that a reader has. Returns null if it is not an integer ≥ 0. A larger number than
 * JavaScript counts exactly is after every event, so the largest exact number is returned for it.
 */
export function parseEventId(text: string): number | null {
  return /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : null;
}

/** Returns the header or parameter. An empty one counts as absent: a browser that has seen no event sends it so. */
export function givenCursor(value: string | string[] | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
