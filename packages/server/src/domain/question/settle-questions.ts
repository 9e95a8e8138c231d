import { Refusal } from '../refusal.ts';
import type {
  Answerer,
  ArgumentChange,
  Continuation,
  OpenQuestions,
  Question,
  RequestAnswer,
  Settlement,
  StoredAnswer,
} from './question.ts';

const MAX_OUTPUT_BYTES = 1_048_576;
const MAX_ARGUMENTS_BYTES = 1_048_576;

/** A call's output if the user sent a new message instead of an answer. */
export const NOT_ANSWERED = 'Not answered: the user sent a new message';
const DECLINED = 'Declined by the user.';

/** Checks the answers by themselves, without the questions. Returns the refusal, or null. */
export function checkAnswers(answers: readonly RequestAnswer[]): Refusal | null {
  const ids = new Set<string>();
  for (const [index, answer] of answers.entries()) {
    const at = `\`answers[${index}]\``;
    if (ids.has(answer.questionId))
      return invalid(`${at} answers a question that another one answers; send one of them.`);
    ids.add(answer.questionId);
    const isOutput = answer.output !== undefined;
    if (isOutput === (answer.approve !== undefined)) {
      return invalid(`${at} must have either \`approve\` or \`output\`.`);
    }
    if (!isOutput && answer.failed !== undefined)
      return invalid(`${at} has \`failed\`, which belongs to an \`output\`.`);
    if (isOutput && answer.reason !== undefined) return invalid(`${at} has \`reason\`, which belongs to \`approve\`.`);
    if (isOutput && Buffer.byteLength(outputText(answer.output)) > MAX_OUTPUT_BYTES) {
      return invalid(`${at}.output must have at most ${MAX_OUTPUT_BYTES} bytes.`);
    }
    const ofApproval = answer.arguments === undefined ? answer.remember && 'remember' : 'arguments';
    if (ofApproval !== undefined && answer.approve !== true)
      return invalid(`${at} has \`${ofApproval}\`, which belongs to \`approve: true\`.`);
    if (Buffer.byteLength(JSON.stringify(answer.arguments ?? {})) > MAX_ARGUMENTS_BYTES) {
      return invalid(`${at}.arguments must have at most ${MAX_ARGUMENTS_BYTES} bytes.`);
    }
  }
  return null;
}

const invalid = (sentence: string) => new Refusal('invalid_request', sentence);

const outputText = (output: unknown) => (typeof output === 'string' ? output : JSON.stringify(output));

/**
 * Decides what becomes of every open question. `answers` is null if the request has none: then the user has sent a new
 * message instead. With `answersAll`, a question without an answer is refused, and so are answers if nothing is open. Returns
 * null if nothing was open and nothing was answered.
 */
export function settleQuestions(
  open: OpenQuestions | null,
  answers: readonly RequestAnswer[] | null,
  answersAll = false,
): Continuation | Refusal | null {
  const given = new Map((answers ?? []).map((answer) => [answer.questionId, answer]));
  const questions = open?.questions ?? [];
  for (const [index, answer] of (answers ?? []).entries()) {
    const { questionId, approve } = answer;
    const question = questions.find((one) => one.questionId === questionId);
    if (question === undefined) {
      const sentence = `\`answers[${index}].questionId\` is not an open question of this chat: it was answered, or a newer message arrived. Read the chat's \`pending\`.`;
      return new Refusal('question_not_pending', sentence);
    }
    if ((approve !== undefined) !== (question.kind === 'approval')) {
      const needs = question.kind === 'approval' ? '`approve`' : '`output`';
      return invalid(`\`answers[${index}]\` must have ${needs}: the question is of the kind \`${question.kind}\`.`);
    }
    const notAllowed = refuseNotAllowed(index, question, answer);
    if (notAllowed !== null) return notAllowed;
  }
  if (open === null) return answersAll && answers !== null ? new Refusal('question_not_pending') : null;
  const missing = questions.filter(({ questionId }) => !given.has(questionId));
  if (answersAll && missing.length > 0) {
    const ids = missing.map(({ questionId }) => `\`${questionId}\``).join(', ');
    return invalid(`\`answers\` must name every open question of the chat; these are missing: ${ids}.`);
  }
  const ifIgnored = answers === null ? NOT_ANSWERED : DECLINED;
  return { runId: open.runId, settlements: questions.map((one) => settle(one, given.get(one.questionId), ifIgnored)) };
}

/** The tool decides what its approvals may do. */
function refuseNotAllowed(index: number, { tool, editable, rememberable }: Question, answer: RequestAnswer) {
  const refuse = (field: string, needed: string) =>
    invalid(`\`answers[${index}].${field}\` is not allowed: the tool \`${tool}\` has no \`${needed}\`; leave it out.`);
  if (answer.arguments !== undefined && editable !== true) return refuse('arguments', 'editable');
  return answer.remember !== undefined && rememberable !== true ? refuse('remember', 'remember') : null;
}

/** The answers that change the arguments of a call. */
export function listChanges(open: OpenQuestions | null, answers: readonly RequestAnswer[] | null): ArgumentChange[] {
  return (answers ?? []).flatMap(({ questionId, arguments: changed }, index) => {
    const question = open?.questions.find((one) => one.questionId === questionId);
    if (changed === undefined || question === undefined) return [];
    return [{ index, agent: question.agent, tool: question.tool, arguments: changed }];
  });
}

/** Settles the questions as another run did, in which they had other ids. */
export function settleAgain(open: OpenQuestions | null, settlements: readonly Settlement[]): Continuation | null {
  if (open === null) return null;
  const known = new Map(settlements.map((one) => [one.callId, one]));
  const settled = open.questions.map((question): Settlement => {
    const same = known.get(question.callId);
    return same === undefined
      ? settle(question, undefined, NOT_ANSWERED)
      : { ...same, questionId: question.questionId };
  });
  return { runId: open.runId, settlements: settled };
}

function settle({ questionId, callId }: Question, answer: RequestAnswer | undefined, ifIgnored: string): Settlement {
  const ids = { questionId, callId };
  if (answer === undefined) return { ...ids, verdict: 'declined', text: ifIgnored };
  const { approve, reason, output, failed = false, arguments: changed } = answer;
  if (output !== undefined) return { ...ids, verdict: 'output', text: outputText(output), failed };
  if (approve === true) {
    const change = changed === undefined ? {} : { argumentsText: JSON.stringify(changed) };
    return { ...ids, verdict: 'approved', reason: reason ?? null, ...change };
  }
  const hasReason = reason !== undefined && reason.trim() !== '';
  return { ...ids, verdict: 'declined', text: hasReason ? `Declined by the user: ${reason}` : DECLINED };
}

/** What is stored of an answer. A question without an answer beside answered ones is declined. */
export function toStoredAnswer(
  { questionId, verdict }: Settlement,
  answers: readonly RequestAnswer[],
  by: Answerer,
): StoredAnswer {
  const answer = answers.find((one) => one.questionId === questionId);
  const { reason = '', arguments: changedArguments, remember } = answer ?? {};
  return {
    decision: verdict,
    reason: reason.trim() === '' ? null : reason,
    by,
    ...(changedArguments !== undefined && { changedArguments }),
    ...(remember !== undefined && { remember }),
  };
}
