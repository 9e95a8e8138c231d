import { errors } from '@runwire/contract';
import { totalTokens, type Usage } from '../../../../domain/model/usage.ts';
import type { Question } from '../../../../domain/question/question.ts';
import type { Meta, QuestionItem } from '../../../../domain/run/events.ts';
import type { EndOfRun } from '../../end-of-run.ts';
import { toCallId } from '../../question-calls.ts';
import { openaiError } from '../openai-api.ts';

/* What a streamed and a plain completion have in common. */

/** The fields with which every chunk and every completion begins. */
export function completionHead({ runId, agent, createdAt }: Meta, object: string) {
  const id = `chatcmpl_${runId.slice(runId.indexOf('_') + 1)}`;
  return { id, object, created: Math.floor(createdAt / 1000), model: agent };
}

export interface ToolCallJson {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A call that waits for the caller. */
export const toolCallJson = ({ questionId, name, text }: QuestionItem): ToolCallJson => ({
  id: toCallId(questionId),
  type: 'function',
  function: { name, arguments: text },
});

/** An approval is a text for a person: this API has no form for it, so it is given elsewhere. */
export function approvalText(questions: readonly Question[]): string {
  const asked = questions.filter(({ kind }) => kind === 'approval');
  const calls = asked.map(({ tool, argumentsText }) => `\`${tool}\` with ${argumentsText}`);
  if (calls.length === 0) return '';
  return `Approval needed for ${calls.join(' and ')}. The next message declines it.`;
}

export type FinishReason = 'stop' | 'tool_calls' | 'length';

export const finishReason = ({ pending = [] }: EndOfRun): FinishReason =>
  pending.some(({ kind }) => kind === 'tool') ? 'tool_calls' : 'stop';

export const usageJson = (usage: Usage) => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: totalTokens(usage),
  prompt_tokens_details: { cached_tokens: usage.cachedTokens },
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
});

/** A failed or cancelled run's error; null if the run completed. */
export function runError({ status, error, runId }: EndOfRun) {
  if (status === 'completed') return null;
  if (error !== null) return openaiError(error, 500, runId);
  return openaiError({ message: 'The run was cancelled.', code: 'cancelled' }, 500, runId);
}

/** The error after which a client must forget the text that it has. */
export const restartedError = (runId: string) =>
  openaiError({ message: errors.answer_restarted.sentence, code: 'answer_restarted' }, 500, runId);
