import { InputError } from '../../app/errors.ts';

/* Days are of UTC, as in the API: a text such as `2030-01-31`. */

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;

export interface Period {
  /** The first day. */
  readonly from: string;
  /** The last day. */
  readonly to: string;
}

const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && isCalendarDay(text);
/** `Date` reads 31 February as 3 March. */
const isCalendarDay = (text: string) => !Number.isNaN(Date.parse(text)) && toDay(Date.parse(text)) === text;

/** Reads the address's period: the last 30 days unless it names others. */
export function readPeriod(from: string | undefined, to: string | undefined, nowMs = Date.now()): Period {
  const last = isDay(to) ? to : toDay(nowMs);
  return { from: isDay(from) ? from : toDay(Date.parse(last) - (DEFAULT_DAYS - 1) * DAY_MS), to: last };
}

/** Periods that people ask for often. */
export function presetPeriods(nowMs = Date.now()): readonly (Period & { readonly title: string })[] {
  const to = toDay(nowMs);
  const lastDays = (days: number) => ({ title: `${days} days`, from: toDay(nowMs - (days - 1) * DAY_MS), to });
  return [lastDays(7), lastDays(30), lastDays(90), { title: 'This month', from: `${to.slice(0, 8)}01`, to }];
}

/** Returns what is wrong with a period; null if it can be shown. */
export function periodError({ from, to }: Period): InputError | null {
  if (from > to) return new InputError('The first day is after the last day. Choose an earlier day in From.');
  if (Date.parse(to) - Date.parse(from) >= MAX_DAYS * DAY_MS) {
    return new InputError(`The page shows at most ${MAX_DAYS} days. Choose a shorter period.`);
  }
  return null;
}

/** A day as times: from its beginning to that of the next. */
export const dayTimes = (day: string) => periodTimes({ from: day, to: day });

/** The period as times: the API includes the first and leaves out the last. */
export const periodTimes = ({ from, to }: Period) => ({
  from: `${from}T00:00:00.000Z`,
  to: `${toDay(Date.parse(to) + DAY_MS)}T00:00:00.000Z`,
});

/** All days of the period, the first one first. */
export function toDays({ from, to }: Period): readonly string[] {
  const days: string[] = [];
  for (let ms = Date.parse(from); ms <= Date.parse(to); ms += DAY_MS) days.push(toDay(ms));
  return days;
}
