import { applyChanges, type ChatState } from '../chat/chat-state.ts';
import { isOwnStep, type JournalledStep, type Step } from './step.ts';

/** Returns the same object if the step does not change the state. */
export function stateAfter(state: ChatState, { state: changes }: Pick<Step, 'state'>): ChatState {
  return changes === undefined ? state : applyChanges(state, changes);
}

/**
 * Orders a run's steps as they were committed. All steps that a rerun keeps have one event id, so their items decide: a run's
 * timestamps grow, and an outcome gets its one when it is committed.
 */
export function inCommitOrder(steps: readonly JournalledStep[]): readonly JournalledStep[] {
  if (steps.every(isOwnStep)) return steps;
  const getTime = ({ output }: Step) => output[0]?.timestamp ?? 0;
  const kept = steps.filter((step) => !isOwnStep(step)).toSorted((a, b) => getTime(a) - getTime(b));
  return [...kept, ...steps.filter(isOwnStep)];
}
