/** The one format of numbers and times. */
const LOCALE = 'en-GB';

const number = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });
const date = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' });
const dateTime = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' });
const exact = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'long' });
const day = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeZone: 'UTC' });
const shortDay = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat(LOCALE);

export const formatNumber = (value: number): string => number.format(value);

const share = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 });

/** `2.5 %` as `2.5%`. */
export const formatShare = (part: number): string => share.format(part);

interface Cost {
  readonly amount: number;
  readonly currency: string;
}

/** `€12.35`, `€0.50`, and small amounts with two digits that count: `€0.00048`. */
export function formatCost({ amount, currency }: Cost): string {
  const small = amount !== 0 && Math.abs(amount) < 0.1;
  const digits = small ? Math.min(6, 1 - Math.floor(Math.log10(Math.abs(amount)))) : 2;
  const options = {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  } as const;
  return new Intl.NumberFormat(LOCALE, options).format(amount);
}

/** Short, for axes and tight places: `1.2k`. */
export const formatCompact = (value: number): string => compact.format(value);

const formatDate = (time: string | Date): string => date.format(new Date(time));
export const formatTime = (time: string | Date): string => dateTime.format(new Date(time));
export const formatExactTime = (time: string | Date): string => exact.format(new Date(time));

/** The zone of all times that the browser shows, such as `Europe/Berlin (GMT+1)`. */
export function formatZone(now = new Date()): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if (timeZone === 'UTC') return timeZone;
  const parts = new Intl.DateTimeFormat(LOCALE, { timeZoneName: 'shortOffset' }).formatToParts(now);
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return `${timeZone} (${offset})`;
}

/** A day of UTC, such as `2030-01-31`. */
export const formatDay = (utcDay: string): string => day.format(new Date(utcDay));
/** Short, for axes: `31 Jan`. */
export const formatShortDay = (utcDay: string): string => shortDay.format(new Date(utcDay));

const AGES: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** `5 minutes ago`, `in 3 days`; the date if it is further away than 30 days. */
export function formatAge(time: string | Date, now = Date.now()): string {
  const distanceMs = new Date(time).getTime() - now;
  if (Math.abs(distanceMs) > 30 * 86_400_000) return formatDate(time);
  for (const [unit, unitMs] of AGES) {
    if (Math.abs(distanceMs) >= unitMs) return relative.format(Math.round(distanceMs / unitMs), unit);
  }
  return distanceMs > 0 ? 'in less than a minute' : 'just now';
}

/** `340 ms`, `2.4 s`, `3 min 20 s`, `5 h 10 min`, `13 days`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${number.format(Math.round(ms / 100) / 10)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : formatCount(Math.round(hours / 24), 'day');
}

/** `3 runs`, `1 run`. */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), BYTE_UNITS.length - 1);
  const value = bytes / 1000 ** power;
  return `${number.format(power === 0 ? value : Math.round(value * 10) / 10)} ${BYTE_UNITS[power]}`;
}

/** Indented, for people. */
export const formatJson = (value: unknown): string => JSON.stringify(value, null, 2);

/** Indents a JSON object or array. Other text stays as it is. */
export function formatJsonText(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return formatJson(JSON.parse(text));
  } catch {
    return text;
  }
}
