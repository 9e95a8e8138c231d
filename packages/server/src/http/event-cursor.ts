/**
 * The id of the last event that a reader has, as it sends it back; null if it is not an integer ≥ 0. A number beyond what
 * JavaScript counts exactly is after every event, so the largest exact one stands for it.
 */
export function parseEventId(text: string): number | null {
  return /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : null;
}

/** The header or parameter; an empty one counts as absent, as browsers send it that have seen no event. */
export function givenCursor(value: string | string[] | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
