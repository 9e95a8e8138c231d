import { type GivenAnswer, readQuestionStates } from '../chats/settled-questions.ts';
import { NOT_ANSWERED } from '../domain/question/settle-questions.ts';
import type { StepOutcome } from '../domain/run/step.ts';
import type { UnfinishedStepRecord } from '../domain/run/unfinished-step.ts';
import type { ShownStepRow } from '../store/queries/steps.ts';
import type { Reads } from '../store/store.ts';
import { stepColumns } from './journal.ts';

/** A journalled step, or a call that gave no result. */
export type ShownStep = ReturnType<typeof stepColumns> &
  Pick<ShownStepRow, 'kind' | 'status'> &
  StepOutcome &
  Partial<UnfinishedStepRecord> & {
    /** Null if the call asked nothing, or if its question is open. */
    readonly answer: GivenAnswer | null;
  };

export const shownStep = (row: ShownStepRow): ShownStep => ({
  ...stepColumns(row),
  kind: row.kind,
  status: row.status,
  ...(JSON.parse(row.record_json) as StepOutcome & UnfinishedStepRecord),
  answer: null,
});

const UNANSWERED = { status: 'failed', error: { code: 'not_answered', message: NOT_ANSWERED } } as const;

/** Adds what happened to their questions to the calls that asked. */
export async function settleWaiting(reads: Reads, steps: ShownStep[]): Promise<ShownStep[]> {
  const find = await readQuestionStates(
    reads,
    steps.flatMap(({ questionId }) => questionId ?? []),
  );
  return steps.map((step): ShownStep => {
    const state = step.questionId === undefined ? 'open' : find(step.questionId);
    if (state === 'open') return step;
    if (state === 'unanswered') return { ...step, ...UNANSWERED };
    return { ...step, answer: state, completedAt: state.at ?? step.completedAt };
  });
}
