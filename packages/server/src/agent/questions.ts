import type { ApprovalCall } from '@runwire/agency';
import { unlessAborted } from '@runwire/lib/unless-aborted.ts';
import { newId } from '../domain/ids.ts';
import type { AllowedAnswers, Question, QuestionKind } from '../domain/question/question.ts';
import type { ToolCallItem } from '../domain/run/events.ts';
import type { Step } from '../domain/run/step.ts';
import { isAskedFor, toMadeCalls } from './call-checks.ts';
import { modelMessages, readArguments } from './call-tool.ts';
import { type AskingRule, alwaysAsks, type PromptItem, type Tool } from './ports.ts';
import type { RunScope } from './run-scope.ts';
import type { TeamAgent } from './team.ts';

/**
 * Decides which calls of a response need an answer of the caller. The step records it, so a later attempt decides nothing
 * again, also if the agency has changed. A call with wrong arguments does not ask: it fails. Neither does a call of a tool
 * that an answer allowed for the chat.
 */
export async function withQuestions(
  step: Step,
  { tools }: Pick<TeamAgent, 'tools'>,
  prompt: readonly PromptItem[],
  { userContext, signal, team }: Pick<RunScope, 'userContext' | 'signal' | 'team'>,
): Promise<Step> {
  const calls = step.output.filter((item) => item.kind === 'tool_call');
  const changes = step.guardrails?.calls;
  const asks: Record<string, QuestionKind> = {};
  const allows: Record<string, AllowedAnswers> = {};
  let remembered: ReadonlySet<string> | null = null;
  for (const item of toMadeCalls(calls, changes)) {
    const change = changes?.[item.callId];
    if (change !== undefined && 'blocked' in change) continue;
    const tool = tools.find(({ name }) => name === item.name);
    const rule = tool === undefined ? undefined : toRule(tool, isAskedFor(step, item.callId));
    if (tool === undefined || rule === undefined) continue;
    const isApproval = rule.kind === 'approval';
    if (isApproval && tool.remember === true) {
      remembered ??= await team.rememberedTools();
      if (remembered.has(tool.name)) continue;
    }
    const call = { toolCallId: item.callId, messages: modelMessages(prompt), context: userContext };
    if (!(await unlessAborted(signal, isNeeded(rule, item.text, call)))) continue;
    asks[item.callId] = rule.kind;
    if (isApproval && (tool.editable === true || tool.remember === true)) allows[item.callId] = toAllowed(tool);
  }
  if (Object.keys(asks).length === 0) return step;
  return { ...step, asks, ...(Object.keys(allows).length > 0 && { allows }) };
}

/** A guardrail that asks counts like a rule of the tool. What only the caller can run asks already. */
const toRule = ({ asks, checkInput }: Tool, isAsked: boolean): AskingRule | undefined =>
  isAsked && asks?.kind !== 'tool' ? alwaysAsks('approval', checkInput) : asks;

const toAllowed = ({ editable, remember }: Tool): AllowedAnswers => ({
  ...(editable === true && { editable }),
  ...(remember === true && { rememberable: true }),
});

/** A check that throws does not ask: `callTool` repeats the check and reports it to the model. */
async function isNeeded(rule: AskingRule, argumentsText: string, call: ApprovalCall): Promise<boolean> {
  const read = readArguments(argumentsText);
  if ('problem' in read) return false;
  try {
    return await rule.isNeeded(read.value, call);
  } catch {
    return false;
  }
}

/** Asks the caller about a call. The run ends with the question when nothing else is left to do. Returns the question's id. */
export function ask(
  scope: Pick<RunScope, 'progress' | 'emit'>,
  call: ToolCallItem,
  kind: QuestionKind,
  allowed: AllowedAnswers | undefined,
): string {
  const { progress } = scope;
  const { agent, callerAgent, loop, callId, name, text } = call;
  const argumentsText = text.trim() === '' ? '{}' : text;
  const about = { callId, agent, callerAgent, tool: name, argumentsText };
  const question: Question = { questionId: newId('qst'), kind, ...about, ...allowed };
  progress.questions.push(question);
  scope.emit({
    type: 'run_item',
    name: kind === 'approval' ? 'tool_approval_requested' : 'client_tool_requested',
    item: {
      kind: 'question',
      agent,
      callerAgent,
      ...(loop === undefined ? {} : { loop }),
      questionId: question.questionId,
      callId,
      name,
      text: argumentsText,
      timestamp: progress.timestamp(),
    },
  });
  return question.questionId;
}
