import type { ToolCallItem } from '../domain/run/events.ts';
import type { CallChange, GuardrailDecision, GuardrailRecord } from '../domain/run/guardrail-record.ts';
import type { Step } from '../domain/run/step.ts';
import { readArguments } from './call-tool.ts';
import { flowCalls } from './flow-tools.ts';
import type { AgentGuardrails, CheckResult } from './guardrails.ts';
import type { TeamAgent } from './team.ts';
import { aboutCall } from './text-check.ts';

/**
 * Asks the guardrails about a response's calls, before any call is made. The step records what they decided, so a
 * later attempt asks none again.
 */
export async function withCallChecks(step: Step, agent: TeamAgent): Promise<Step> {
  const { guardrails } = agent;
  if (guardrails === null || !guardrails.has('toolCall')) return step;
  const calls = step.output.filter((item) => item.kind === 'tool_call');
  const checks = calls.map((call) => checkCall(agent, guardrails, call));
  // Waits for all, so that none is asked after the run has failed.
  await Promise.allSettled(checks);
  const decisions: GuardrailDecision[] = [...(step.guardrails?.decisions ?? [])];
  const changes: Record<string, CallChange> = {};
  for (const [index, checked] of (await Promise.all(checks)).entries()) {
    const { callId } = calls[index] as ToolCallItem;
    if (checked === null) continue;
    decisions.push(...checked.decisions);
    if (checked.blocked !== null) changes[callId] = { blocked: checked.blocked };
    else if (checked.isReplaced) changes[callId] = { argumentsText: JSON.stringify(checked.value) };
  }
  if (decisions.length === 0) return step;
  return { ...step, guardrails: { decisions, ...(Object.keys(changes).length > 0 && { calls: changes }) } };
}

/** Returns null for a call whose arguments are no JSON: it is not made. */
async function checkCall(
  agent: TeamAgent,
  guardrails: AgentGuardrails,
  call: ToolCallItem,
): Promise<CheckResult<unknown> | null> {
  if ('problem' in readArguments(call.text)) return null;
  const checked = await guardrails.ask('toolCall', aboutCall(call), call.callId);
  const [meaning] = flowCalls(agent, [call]);
  if (checked.asks && (meaning?.kind === 'handoff' || meaning?.kind === 'delegate')) {
    const { guardrail = '' } = checked.decisions.at(-1) ?? {};
    throw guardrails.fail(
      guardrail,
      `returned \`ask\` for \`${call.name}\`, which no person can approve; block it instead.`,
    );
  }
  return checked;
}

/** A step's calls as they are made: with the arguments that replace the model's. */
export function toMadeCalls(
  calls: readonly ToolCallItem[],
  changes: GuardrailRecord['calls'],
): readonly ToolCallItem[] {
  if (changes === undefined) return calls;
  return calls.map((call) => {
    const change = changes[call.callId];
    return change !== undefined && 'argumentsText' in change ? { ...call, text: change.argumentsText } : call;
  });
}

/** True if a guardrail wants a person to approve the call. */
export const isAskedFor = ({ guardrails }: Step, callId: string): boolean =>
  guardrails?.decisions.some((one) => one.verdict === 'ask' && one.callId === callId) === true;
