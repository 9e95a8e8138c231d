import { formatAge, formatExactTime, formatTime } from '../lib/format.ts';
import { useMinutes } from './use-minutes.ts';

interface TimeProps {
  readonly time: string;
  /** True for `5 minutes ago`, false for date and time. */
  readonly age?: boolean;
}

export function Time({ time, age = false }: TimeProps) {
  return (
    <time dateTime={time} title={formatExactTime(time)}>
      {age ? <Age time={time} /> : formatTime(time)}
    </time>
  );
}

function Age({ time }: Pick<TimeProps, 'time'>) {
  useMinutes();
  return formatAge(time);
}
