/** Built-in formats of dates and times, which have a number and no code. */
const DATE_FORMATS = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 47]);
/** The built-in format `[h]:mm:ss`. */
const DURATION_FORMAT = 46;
/** Built-in date formats of Chinese, Japanese and Korean. */
const isEastAsianDate = (id: number) => (id >= 27 && id <= 36) || (id >= 50 && id <= 58);

export type TimeFormat = 'date' | 'duration';

/**
 * Finds out whether a number format shows dates or times: it has their letters outside of quotes, colours and
 * conditions.
 */
export function timeFormat(id: number, code: string | undefined): TimeFormat | null {
  if (code === undefined) {
    if (id === DURATION_FORMAT) return 'duration';
    return DATE_FORMATS.has(id) || isEastAsianDate(id) ? 'date' : null;
  }
  const letters =
    code
      .replaceAll(/"[^"]*"|\\.|_.|\*./g, '')
      .replaceAll(/\[(?!(?:h+|m+|s+)\])[^[\]]*\]/gi, '')
      .split(';', 1)[0] ?? '';
  if (!/[ymdhs]/i.test(letters) || /general/i.test(letters)) return null;
  return /\[[hms]/i.test(letters) ? 'duration' : 'date';
}

const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;
const DAYS_FROM_1900_TO_1970 = 25_569;
const DAYS_FROM_1900_TO_1904 = 1462;
/** Excel counts 29 February 1900, which did not exist. */
const FALSE_LEAP_DAY = 60;
/** The first day of the year 10000. */
const LAST_DAY = 2_958_466;

/**
 * Returns `2026-03-01`, `2026-03-01 14:30:00`, or `14:30:00` for a time without a date. Returns null if it is no date.
 */
export function textOfDate(serial: number, from1904: boolean): string | null {
  const since1900 = from1904 ? serial + DAYS_FROM_1900_TO_1904 : serial;
  if (!(serial >= 0) || Math.round(since1900 * DAY_SECONDS) >= LAST_DAY * DAY_SECONDS) return null;
  const days = since1900 < FALSE_LEAP_DAY ? since1900 + 1 : since1900;
  const date = new Date(Math.round(((days - DAYS_FROM_1900_TO_1970) * DAY_MS) / 1000) * 1000);
  const [day, time] = date.toISOString().slice(0, 19).split('T');
  if (serial < 1) return time ?? null;
  return time === '00:00:00' ? (day ?? null) : `${day} ${time}`;
}

/** Returns hours, minutes and seconds, such as `37:30:00`. Returns null if it is longer than the range of dates. */
export function textOfDuration(days: number): string | null {
  const seconds = Math.round(Math.abs(days) * DAY_SECONDS);
  if (!(seconds < LAST_DAY * DAY_SECONDS)) return null;
  const twoDigits = (number: number) => String(number).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${days < 0 && seconds > 0 ? '-' : ''}${hours}:${twoDigits(minutes)}:${twoDigits(seconds % 60)}`;
}
