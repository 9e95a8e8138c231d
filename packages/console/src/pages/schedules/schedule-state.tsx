import type { Schedule } from '@runwire/client';
import { Badge } from '../../ui/feedback.tsx';

type State = Pick<Schedule, 'active' | 'pausedReason' | 'at'>;

/** True if the only tick has passed. */
export const isOver = ({ active, at }: State): boolean => !active && at !== null && Date.parse(at) <= Date.now();

/** Shows if the schedule ticks. */
export function ScheduleState({ active, pausedReason, at }: State) {
  if (active) return <Badge tone="good">active</Badge>;
  if (pausedReason !== null) return <Badge tone="bad">paused</Badge>;
  return isOver({ active, pausedReason, at }) ? <Badge>over</Badge> : <Badge tone="warn">paused</Badge>;
}
