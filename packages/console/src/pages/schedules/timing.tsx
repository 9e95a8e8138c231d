import type { Schedule } from '@runwire/client';
import { formatCount } from '../../lib/format.ts';
import { Time } from '../../ui/time.tsx';

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** `every 5 minutes`, `every 90 seconds`. */
function describeInterval(everySeconds: number): string {
  const [unit, seconds] = UNITS.find((candidate) => everySeconds % candidate[1] === 0) ?? ['second', 1];
  return everySeconds === seconds ? `every ${unit}` : `every ${formatCount(everySeconds / seconds, unit)}`;
}

/** When a schedule ticks, in words. */
export function Timing({ cron, everySeconds, at }: Pick<Schedule, 'cron' | 'everySeconds' | 'at'>) {
  if (cron !== null) return <code>{cron}</code>;
  if (everySeconds !== null) return describeInterval(everySeconds);
  return at === null ? null : (
    <>
      once, <Time time={at} />
    </>
  );
}
