import { formatAge, formatExactTime, formatTime } from '../lib/format.ts';

interface TimeProps {
  readonly time: string;
  /** True for `5 minutes ago`, false for date and time. */
  readonly age?: boolean;
}

export function Time({ time, age = false }: TimeProps) {
  return (
    <time dateTime={time} title={formatExactTime(time)}>
      {age ? formatAge(time) : formatTime(time)}
    </time>
  );
}
