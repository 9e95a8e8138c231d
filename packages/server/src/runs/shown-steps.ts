import type { RunId } from '../domain/ids.ts';
import type { Answerer, StoredAnswer } from '../domain/question/question.ts';
import { NOT_ANSWERED } from '../domain/question/settle-questions.ts';
import type { StepOutcome } from '../domain/run/step.ts';
import type { UnfinishedStepRecord } from '../domain/run/unfinished-step.ts';
import { iso } from '../domain/time.ts';
import type { ShownStepRow } from '../store/queries/steps.ts';
import { settledQuestions } from '../store/queries/unfinished-steps.ts';
import type { Reads } from '../store/store.ts';
import { stepColumns } from './journal.ts';

/** Who answered the question about a call, and the run that made the call. */
interface ShownAnswer {
  readonly by: (Answerer & { readonly at: string | null }) | null;
  readonly runId: RunId | null;
}

/** A journalled step, or a call that gave no result. */
export type ShownStep = ReturnType<typeof stepColumns> &
  Pick<ShownStepRow, 'kind' | 'status'> &
  StepOutcome &
  Partial<UnfinishedStepRecord> & {
    /** Null if the call asked nothing, or if its question is open. */
    readonly answer: ShownAnswer | null;
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
export async function settleWaiting(reads: Reads, runId: RunId, steps: ShownStep[]): Promise<ShownStep[]> {
  const asked = steps.flatMap(({ questionId }) => questionId ?? []);
  if (asked.length === 0) return steps;
  const rows = await reads.query(settledQuestions(asked));
  const questions = new Map(rows.map((row) => [row.question_id, row]));
  return steps.map((step): ShownStep => {
    const { questionId } = step;
    if (questionId === undefined) return step;
    const question = questions.get(questionId);
    if (question?.settled_at === null && question.asking_run_id === runId) return step;
    if (question === undefined || question.answer_json === null) return { ...step, ...UNANSWERED };
    const { by } = JSON.parse(question.answer_json) as StoredAnswer;
    const answer = { by: { ...by, at: iso(question.settled_at) }, runId: question.answered_run_id };
    return { ...step, answer, completedAt: question.settled_at ?? step.completedAt };
  });
}
