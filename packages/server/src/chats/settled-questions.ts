import type { RunId } from '../domain/ids.ts';
import type { Answerer, StoredAnswer } from '../domain/question/question.ts';
import { iso } from '../domain/time.ts';
import { settledQuestions } from '../store/queries/unfinished-steps.ts';
import type { Reads } from '../store/store.ts';

/** Who answered a question, and the run that continued with the answer. */
export interface GivenAnswer {
  readonly by: Answerer & { readonly at: string | null };
  readonly at: number | null;
  readonly runId: RunId | null;
}

/** What happened to a question. */
export type QuestionState = 'open' | 'unanswered' | GivenAnswer;

/** Reads what happened to these questions. A question that is not found was deleted with its chat, so it has no answer. */
export async function readQuestionStates(
  reads: Reads,
  questionIds: readonly string[],
): Promise<(questionId: string) => QuestionState> {
  const rows = questionIds.length === 0 ? [] : await reads.query(settledQuestions(questionIds));
  const states = new Map(
    rows.map((row): [string, QuestionState] => {
      const { question_id: id, settled_at: at, answer_json: answer } = row;
      if (at === null && row.asking_run_id === row.run_id) return [id, 'open'];
      if (answer === null) return [id, 'unanswered'];
      const { by } = JSON.parse(answer) as StoredAnswer;
      return [id, { by: { ...by, at: iso(at) }, at, runId: row.answered_run_id }];
    }),
  );
  return (questionId) => states.get(questionId) ?? 'unanswered';
}
