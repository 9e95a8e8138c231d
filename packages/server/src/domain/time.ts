export const HOUR_MS = 3_600_000;

export function iso(ms: number): string;
export function iso(ms: number | null): string | null;
export function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** The range is from ≤ admission < to. */
export function admissionTimes(query: { readonly from?: string; readonly to?: string }) {
  return {
    fromMs: query.from === undefined ? undefined : Date.parse(query.from),
    toMs: query.to === undefined ? undefined : Date.parse(query.to),
  };
}
