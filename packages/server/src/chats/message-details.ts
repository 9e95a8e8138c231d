import type { RunId } from '../domain/ids.ts';
import type { Question, StoredAnswer } from '../domain/question/question.ts';
import { approvalJson } from '../domain/question/question-json.ts';
import type { UnfinishedStepRecord } from '../domain/run/unfinished-step.ts';
import { iso } from '../domain/time.ts';
import { answersOfRuns, type CallRow, toolCallsOfRuns, unfinishedCallsOfRuns } from '../store/queries/message-calls.ts';
import type { Reads } from '../store/store.ts';
import { readQuestionStates } from './settled-questions.ts';

/** A call that a run made, as its message shows it. */
export type MessageCall = ReturnType<typeof toCall>;
/** An answer that a message brought. */
export type MessageAnswer = ReturnType<typeof toAnswer>;

/** What a message shows besides its text. */
export interface MessageDetails {
  readonly calls: readonly MessageCall[];
  readonly answers: readonly MessageAnswer[];
}

/** Reads the calls that these runs made, by run, in their order. */
export async function readCalls(
  reads: Reads,
  runIds: readonly RunId[],
): Promise<ReadonlyMap<RunId, readonly MessageCall[]>> {
  if (runIds.length === 0) return new Map();
  const [finished, unfinished] = await Promise.all([
    reads.query(toolCallsOfRuns(runIds)),
    reads.query(unfinishedCallsOfRuns(runIds)),
  ]);
  const asked = unfinished.map(({ record_json: json }) => (JSON.parse(json) as UnfinishedStepRecord).questionId);
  const find = await readQuestionStates(
    reads,
    asked.flatMap((questionId) => questionId ?? []),
  );
  const rows: CallRow[] = [
    ...finished,
    ...unfinished.map((row, index) => {
      const questionId = asked[index];
      const isUnanswered = questionId !== undefined && find(questionId) === 'unanswered';
      return isUnanswered ? { ...row, status: 'failed' as const } : row;
    }),
  ];
  const byRun = Map.groupBy(rows, (row) => row.run_id);
  const byStep = (one: CallRow, other: CallRow) => one.step - other.step;
  return new Map([...byRun].map(([runId, ofRun]) => [runId, ofRun.sort(byStep).map(toCall)]));
}

const toCall = ({ step, tool, status, agent, call_id: callId }: CallRow) => ({ step, tool, status, agent, callId });

/** Reads the answers with which these runs continued others, by run. */
export async function readAnswers(
  reads: Reads,
  runIds: readonly RunId[],
): Promise<ReadonlyMap<RunId, readonly MessageAnswer[]>> {
  if (runIds.length === 0) return new Map();
  const rows = await reads.query(answersOfRuns(runIds));
  const byRun = Map.groupBy(rows, (row) => row.answered_run_id);
  return new Map([...byRun].map(([runId, ofRun]) => [runId, ofRun.map(toAnswer)]));
}

interface AnswerRow {
  readonly question_id: string;
  readonly question_json: string | null;
  readonly answer_json: string | null;
  readonly settled_at: number | null;
}

function toAnswer(row: AnswerRow) {
  const answer = JSON.parse(row.answer_json ?? '{}') as StoredAnswer;
  const { decision, reason, by } = answer;
  const question = row.question_json === null ? null : (JSON.parse(row.question_json) as Question);
  const tool = question?.tool ?? null;
  const at = iso(row.settled_at);
  return { questionId: row.question_id, tool, decision, reason, ...approvalJson(answer), by, at };
}
