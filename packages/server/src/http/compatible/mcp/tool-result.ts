import { errors } from '@runwire/contract';
import { usageJson } from '../../../domain/model/usage.ts';
import { streamedQuestion } from '../../../domain/question/question-json.ts';
import type { Refusal } from '../../../domain/refusal.ts';
import type { EndOfRun } from './run-reader.ts';

const textPart = (text: string) => ({ type: 'text' as const, text });

/** The result of a call whose run has ended. */
export function toolResult({ runId, chatId, status, items, usage, error, pending = [] }: EndOfRun) {
  const answer = items.map((item) => (item.kind === 'message' && item.callerAgent === null ? item.text : '')).join('');
  const questions = pending.map(
    ({ agent, tool, kind }) =>
      `${agent} waits for ${kind === 'approval' ? 'the approval of a call' : 'the output'} of \`${tool}\`, which a person gives elsewhere. The next message in this chat declines it.`,
  );
  const problem = status === 'cancelled' ? 'The run was cancelled.' : (error?.message ?? '');
  const texts = [answer, problem, ...questions].filter((text) => text !== '');
  return {
    content: texts.map(textPart),
    structuredContent: {
      run_id: runId,
      chat_id: chatId,
      status,
      usage: usageJson(usage),
      pending: pending.map(streamedQuestion),
      error: error === null ? null : { code: error.code, message: error.message },
    },
    ...(status === 'completed' ? {} : { isError: true }),
  };
}

/** The result of a call that did not become a run. The model reads the sentence, and programs the code. */
export function refusedResult({ code, message, details, retryAfterSeconds }: Refusal) {
  const retry = retryAfterSeconds === null ? {} : { retryAfterSeconds };
  const refusal = { error: message, code, status: errors[code].status, ...retry, ...details };
  return { content: [textPart(`${message} (${code})`)], isError: true, _meta: { 'runwire/error': refusal } };
}
