/** The dates of GNU `date -d` that just-bash does not know: relative to another date, or to now. */

const DAY_SECONDS = 86_400;
const SECONDS: Readonly<Record<string, number>> = {
  sec: 1,
  second: 1,
  min: 60,
  minute: 60,
  hour: 3600,
  day: DAY_SECONDS,
  week: 7 * DAY_SECONDS,
  fortnight: 14 * DAY_SECONDS,
};
const MONTHS: Readonly<Record<string, number>> = { month: 1, year: 12 };
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

const UNITS = [...Object.keys(SECONDS), ...Object.keys(MONTHS)].join('|');
const STEP = new RegExp(
  `(?:(?<sign>[+-])\\s*)?(?:(?<count>\\d+)|(?<word>next|last))?\\s*\\b(?<unit>${UNITS})s?\\b(?<ago>\\s+ago)?`,
  'gi',
);
const WEEKDAY = new RegExp(
  `(?:(?<word>next|last|this)\\s+)?\\b(?<day>${WEEKDAYS.map((day) => `${day}|${day.slice(0, 3)}`).join('|')})\\b`,
  'i',
);
/** A date that is written out, like `Fri, 30 Jan 2026`, has its weekday as a comment. */
const HAS_NUMBER = /\d/;

export interface RelativeDate {
  /** The date to begin with, for just-bash; empty for now. */
  readonly base: string;
  /** Applies the steps to the base. Seconds since 1970, in UTC. */
  readonly apply: (seconds: number) => number;
}

/** Returns null if the text is no relative date, so that just-bash reads it. */
export function readRelativeDate(text: string): RelativeDate | null {
  const steps: ((date: Date) => void)[] = [];
  let base = text.replace(STEP, (...match) => {
    const { sign, count, word, unit = '', ago } = match.at(-1) as Record<string, string | undefined>;
    const isBack = ((sign === '-') !== (ago !== undefined)) !== (word === 'last');
    const amount = Number(count ?? 1) * (isBack ? -1 : 1);
    const name = unit.toLowerCase();
    const months = MONTHS[name];
    steps.push((date) => {
      if (months !== undefined) date.setUTCMonth(date.getUTCMonth() + amount * months);
      else date.setTime(date.getTime() + amount * (SECONDS[name] ?? 0) * 1000);
    });
    return ' ';
  });
  const weekday = HAS_NUMBER.test(base) ? null : WEEKDAY.exec(base);
  if (weekday !== null) {
    const { word, day = '' } = weekday.groups ?? {};
    const wanted = WEEKDAYS.findIndex((name) => name.startsWith(day.toLowerCase().slice(0, 3)));
    base = base.replace(weekday[0], ' ');
    steps.unshift((date) => {
      date.setUTCHours(0, 0, 0, 0);
      const ahead = (wanted - date.getUTCDay() + 7) % 7;
      const days =
        word?.toLowerCase() === 'last' ? ahead - 7 : word?.toLowerCase() === 'next' && ahead === 0 ? 7 : ahead;
      date.setUTCDate(date.getUTCDate() + days);
    });
  }
  if (steps.length === 0) return null;
  return {
    base: base.trim(),
    apply: (seconds) => {
      const date = new Date(seconds * 1000);
      for (const step of steps) step(date);
      return Math.floor(date.getTime() / 1000);
    },
  };
}
