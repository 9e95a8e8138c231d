const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The waits after each failed attempt. After the failure that follows the last one, a delivery has failed. */
const WAITS_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 20 * HOUR];
const JITTER = 0.1;
const MAX_RETRY_AFTER_MS = 24 * HOUR;

/** An endpoint that only failed for so long is disabled. */
export const FAILING_MS = 72 * HOUR;

/**
 * Returns when the next attempt is due after `failures` failed ones, or null if there is none. `random` is between 0 and 1.
 * If the receiver asked for a later time, that time counts.
 */
export function nextAttemptAt(
  failures: number,
  now: number,
  retryAfterMs: number | null,
  random: number,
): number | null {
  const wait = WAITS_MS[failures - 1];
  if (wait === undefined) return null;
  const jittered = Math.round(wait * (1 - JITTER + 2 * JITTER * random));
  return now + Math.max(jittered, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
}

/** Reads `Retry-After`: seconds, or a date. Returns null if it is neither. */
export function parseRetryAfter(text: string | null, now: number): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * SECOND;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
