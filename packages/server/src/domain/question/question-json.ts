import type { AllowedAnswers, OpenQuestions, Question, StoredAnswer } from './question.ts';

/** Decodes the column `questions_json`. */
export const parseQuestions = (json: string | null): OpenQuestions | null =>
  json === null ? null : (JSON.parse(json) as OpenQuestions);

/** `arguments` of a question, as callers read it. */
const toArguments = ({ argumentsText }: Question) => JSON.parse(argumentsText) as Record<string, unknown>;

/** What an answer may do. Absent fields stay absent. */
const toAllowed = ({ editable, rememberable }: Question): AllowedAnswers => ({
  ...(editable && { editable }),
  ...(rememberable && { rememberable }),
});

/** What an approval did besides. */
export const approvalJson = (answer: StoredAnswer | null) => ({
  changedArguments: answer?.changedArguments ?? null,
  remember: answer?.remember ?? null,
});

/** A question as the stream shows it. */
export const streamedQuestion = (question: Question) => ({
  question_id: question.questionId,
  kind: question.kind,
  call_id: question.callId,
  agent: question.agent,
  callerAgent: question.callerAgent,
  tool: question.tool,
  arguments: toArguments(question),
  ...toAllowed(question),
});

/** A question of a run or a chat. */
export const questionJson = (question: Question) => ({
  questionId: question.questionId,
  kind: question.kind,
  callId: question.callId,
  agent: question.agent,
  callerAgent: question.callerAgent,
  tool: question.tool,
  arguments: toArguments(question),
  ...toAllowed(question),
});
