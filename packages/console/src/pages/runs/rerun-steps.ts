import type { RunRecord, Step } from '@runwire/client';

type KeepableStep = Pick<Step, 'step' | 'kind' | 'loop' | 'status' | 'error'>;

/** A step of the agent that answers the user, and not only the trace of a call that gave no result. */
function isFinished({ kind, loop, status, error }: KeepableStep): boolean {
  if (loop !== null || kind === 'summary') return false;
  if (status === 'failed') return kind === 'tool' && error?.code !== 'not_answered';
  return status === 'completed';
}

/** The numbers of the steps after which the run can be run again. After the last step of a completed run nothing is left to do. */
export function listRerunSteps(
  { status, chatDeleted }: Pick<RunRecord, 'status' | 'chatDeleted'>,
  steps: readonly KeepableStep[],
): ReadonlySet<number> {
  if (status === 'admitted' || status === 'running' || chatDeleted) return new Set();
  const finished = steps.filter(isFinished).map(({ step }) => step);
  return new Set(status === 'completed' ? finished.filter((step) => step !== Math.max(...finished)) : finished);
}

/** The event of the steps that a rerun has of the original run. */
const KEPT_EVENT_ID = 1;

/** True if the rerun has the step of the original run. It always has the summary. */
export const isKept = (
  { rerunOf }: Pick<RunRecord, 'rerunOf'>,
  { step, kind, lastEventId }: Pick<Step, 'step' | 'kind' | 'lastEventId'>,
): boolean => rerunOf !== null && (step <= rerunOf.afterStep || (kind === 'summary' && lastEventId === KEPT_EVENT_ID));
