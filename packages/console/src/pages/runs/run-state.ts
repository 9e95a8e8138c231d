import type { RunRecord } from '@runwire/client';

type RunTimes = Pick<RunRecord, 'createdAt' | 'startedAt' | 'completedAt'>;

export const isActive = ({ status }: Pick<RunRecord, 'status'>): boolean =>
  status === 'admitted' || status === 'running';

/** A run's status for people: also `cancelling`, and `waiting` while its questions are open. */
export function toStatus(run: Pick<RunRecord, 'status' | 'cancelRequested' | 'pending'>): string {
  if (run.pending.length > 0) return 'waiting';
  return run.cancelRequested !== null && isActive(run) ? 'cancelling' : run.status;
}

export const getStart = ({ createdAt, startedAt }: RunTimes): number => Date.parse(startedAt ?? createdAt);

/** How long the run took, or takes so far. */
export const getDuration = (run: RunTimes): number =>
  Math.max(0, (run.completedAt === null ? Date.now() : Date.parse(run.completedAt)) - getStart(run));
