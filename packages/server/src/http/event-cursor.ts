/** An event id as a reader sends it back: an integer ≥ 0, or null. */
export function parseEventId(text: string): number | null {
  if (!/^\d{1,16}$/.test(text)) return null;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : null;
}
