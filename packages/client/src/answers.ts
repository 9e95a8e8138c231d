import type { Answer, ClientTool, Question } from '@runwire/contract';
import type { RunRequest, RunResult } from './run-types.ts';

export interface ToolCallContext {
  readonly question: Question;
  /** Aborts when the reader detaches. */
  readonly signal: AbortSignal;
}

/** Runs a call of a tool. The output is text or any JSON value. If it throws, the model reads the error's message. */
export type ToolFunction = (input: Record<string, unknown>, call: ToolCallContext) => unknown;

/** A tool that the run gets by its request: the integration must allow `clientTools`. */
export interface RequestTool extends Omit<ClientTool, 'name'> {
  readonly execute: ToolFunction;
}

/** By name: a function for a tool that the agency defines without `execute`, or a whole tool. */
export type RunTools = Readonly<Record<string, ToolFunction | RequestTool>>;

/** What a decision has besides, if the question is `editable` or `rememberable`. */
type Approval = Pick<Answer, 'arguments' | 'remember'>;

/**
 * True approves the call, false declines it. The tool or the model reads the reason. With `arguments` the call is made with
 * these, and with `remember` further calls of the tool in the chat do not ask.
 */
export type Decision = boolean | ({ readonly approve: boolean; readonly reason?: string } & Readonly<Approval>);

export interface AnsweringOptions {
  readonly tools?: RunTools;
  readonly onApproval?: (question: Question) => Decision | Promise<Decision>;
}

const isWhole = (tool: ToolFunction | RequestTool): tool is RequestTool => typeof tool !== 'function';

/** Adds the whole tools to the request. */
export function withTools(request: RunRequest, tools: RunTools = {}): RunRequest {
  // JSON leaves out `execute`.
  const added = Object.entries(tools).flatMap(([name, tool]) => (isWhole(tool) ? [{ name, ...tool }] : []));
  return added.length === 0 ? request : { ...request, clientTools: [...(request.clientTools ?? []), ...added] };
}

/**
 * Answers all questions of a run. Returns null if there are none, or if one of them has no answer here: the server would
 * decline it.
 */
export async function answer(
  { status, pending }: RunResult,
  { tools = {}, onApproval }: AnsweringOptions,
  signal: AbortSignal,
): Promise<Answer[] | null> {
  const canAnswer = ({ kind, tool }: Question) =>
    kind === 'tool' ? Object.hasOwn(tools, tool) : onApproval !== undefined;
  if (status !== 'completed' || pending.length === 0 || !pending.every(canAnswer)) return null;
  return await Promise.all(
    pending.map(async (question): Promise<Answer> => {
      const { questionId, kind, tool } = question;
      if (kind === 'tool')
        return { questionId, ...(await getOutput(tools[tool] as ToolFunction, { question, signal })) };
      const decision = await onApproval?.(question);
      return { questionId, ...(typeof decision === 'object' ? decision : { approve: decision === true }) };
    }),
  );
}

async function getOutput(
  tool: ToolFunction | RequestTool,
  call: ToolCallContext,
): Promise<Pick<Answer, 'output' | 'failed'>> {
  try {
    const execute = isWhole(tool) ? tool.execute : tool;
    return { output: ((await execute(call.question.arguments, call)) ?? null) as NonNullable<Answer['output']> };
  } catch (error) {
    call.signal.throwIfAborted();
    return { output: error instanceof Error ? error.message : String(error), failed: true };
  }
}

const MAX_ID_CHARACTERS = 256;

/**
 * The request that continues a run with answers. Its id is made from the first one, so that a program that repeats the
 * first request after a crash repeats the answers too.
 */
export function nextRequest(first: RunRequest, chatId: string, answers: Answer[], turn: number): RunRequest {
  const { agent: _agent, aliasChatId: _alias, attachments: _files, sandboxFiles: _sandbox, ...kept } = first;
  const usageRequestId = `${first.usageRequestId}~${turn}`.slice(-MAX_ID_CHARACTERS);
  return { ...kept, chatId, message: '', answers, usageRequestId };
}
