import { streamFileJson } from '../../../domain/file/changed-file.ts';
import type { Question } from '../../../domain/question/question.ts';
import type { RunEvent } from '../../../domain/run/events.ts';
import { toCallId } from '../question-calls.ts';
import { frame } from './frame.ts';

export type EndOfRun = Extract<RunEvent, { readonly type: 'messages' }>;

/** The answer that `resume` must have for an approval. */
const APPROVAL_SCHEMA = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
};

/**
 * The last event of a run. `asking` has the loops of delegated agents whose questions are open, by question.
 */
export function runEnd(
  { status, error, output, pending = [], files = [] }: EndOfRun,
  ids: { readonly threadId: string; readonly runId: string },
  usage: readonly object[],
  asking: ReadonlyMap<string, string>,
): string {
  if (status === 'failed') {
    const { message = 'The run failed.', code = 'internal_error' } = error ?? {};
    return frame({ type: 'RUN_ERROR', message, code, usage });
  }
  const changed = files.length === 0 ? {} : { metadata: { runwire: { files: files.map(streamFileJson) } } };
  const value = output === undefined || output === null ? {} : { result: output };
  const outcome = status === 'cancelled' ? { type: 'cancelled' } : answered(pending, asking);
  return frame({ type: 'RUN_FINISHED', ...ids, ...value, outcome, usage, ...changed });
}

/** The protocol has no outcome for both: if a call waits for an approval, frontend tools are derived from the stream. */
function answered(pending: readonly Question[], asking: ReadonlyMap<string, string>): object {
  const interrupts = pending.filter(({ kind }) => kind === 'approval').map((one) => toInterrupt(one, asking));
  if (interrupts.length > 0) return { type: 'interrupt', interrupts };
  const pendingToolCallIds = pending.map(({ questionId }) => toCallId(questionId));
  return { type: 'success', ...(pendingToolCallIds.length === 0 ? {} : { pendingToolCallIds }) };
}

function toInterrupt({ questionId, agent, tool }: Question, asking: ReadonlyMap<string, string>): object {
  const subagentRunId = asking.get(questionId);
  return {
    id: questionId,
    reason: 'tool_approval',
    message: `${agent} asks for your approval of a call of \`${tool}\`.`,
    toolCallId: toCallId(questionId),
    responseSchema: APPROVAL_SCHEMA,
    ...(subagentRunId === undefined ? {} : { subagentRunId }),
  };
}
