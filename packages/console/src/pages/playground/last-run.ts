import { getRunId, type Turn } from '../transcript/turn.ts';

interface LastRun {
  readonly runId: string;
  readonly isActive: boolean;
}

/** Null if the chat has no run. */
export function getLastRun(turns: readonly Turn[]): LastRun | null {
  const last = turns.findLast((turn) => getRunId(turn) !== null);
  const runId = last === undefined ? null : getRunId(last);
  return runId === null ? null : { runId, isActive: last?.live?.isActive ?? false };
}
