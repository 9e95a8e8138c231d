import { ModelFailure, promptBytes } from '@runwire/models';
import { historyBudget } from '../domain/model/model-window.ts';
import { estimateTokens } from '../domain/model/usage.ts';
import type { ToolCallItem } from '../domain/run/events.ts';
import { getBlockReason } from '../domain/run/guardrail-record.ts';
import type { AgentTrace } from '../telemetry/run-trace.ts';
import { beginCall, type Outcome } from './call-step.ts';
import { exchangeItems } from './exchange-window.ts';
import type { FlowCall } from './flow-tools.ts';
import { type CallsSetting, joinInstructions, toText } from './loop-setting.ts';
import { toErrorType } from './model-step.ts';
import type { PromptItem } from './ports.ts';
import type { Flow, TeamAgent } from './team.ts';
import { resultCheck } from './text-check.ts';

/** The call, or a call of the loop that it began, waits for an answer of the caller. */
export const WAITS = 'waits';

type Delegation = Extract<FlowCall, { kind: 'delegate' }>;

/** Runs the recipient's loop. Its failure is the call's outcome, and the sender's loop continues. */
export async function delegate(
  setting: CallsSetting,
  call: ToolCallItem,
  { flow, message, instructions }: Delegation,
): Promise<Outcome | typeof WAITS> {
  const { scope, loop, agent: sender, runLoop } = setting;
  if (loop.depth >= scope.limits.depth) {
    const text = `Messages to agents may be nested ${scope.limits.depth} deep, and this is the limit; do the task yourself.`;
    return { status: 'failed', text };
  }
  const asked = { agent: flow.to, message };
  const startedAt = Date.now();
  let trace: AgentTrace | null = null;
  let failure: string | null = null;
  const check = resultCheck(sender, call);
  let ofSender: unknown = null;
  try {
    const agent = await scope.team.agent(flow.to);
    const isReplayed = scope.finished.modelStep(call.callId, 1) !== undefined;
    trace = loop.trace?.delegate(flow.to, agent.model.id, isReplayed) ?? null;
    const own: PromptItem = { kind: 'user', text: message };
    const last = await runLoop(scope, {
      loop: call.callId,
      callerAgent: sender.name,
      depth: loop.depth + 1,
      agent,
      addedInstructions: instructions,
      prompt: [...(await memory(setting, call, flow, { agent, own, instructions })), own],
      earlierItems: 0,
      resultCheck: check && {
        ...check,
        check: (text) =>
          check.check(text).catch((error: unknown) => {
            ofSender = error;
            throw error;
          }),
      },
      trace,
    });
    if (last === null) return WAITS;
    const { guardrails } = last;
    if (guardrails === undefined) return { status: 'completed', text: toText(last), asked };
    const blocked = getBlockReason(guardrails.decisions);
    if (blocked !== null) return { status: 'failed', text: blocked, asked, guardrails };
    return { status: 'completed', text: toText(last), asked, guardrails };
  } catch (error) {
    failure = toErrorType(error, scope.signal);
    // A guardrail of the sender that fails is a failure of the sender's loop.
    const isOfSender = error !== null && error === ofSender;
    const mayContinue = error instanceof ModelFailure && error.code !== 'internal_error' && !isOfSender;
    if (!mayContinue || scope.signal.aborted) {
      scope.unfinished.cut({ ...beginCall(setting, call), startedAt }, error);
      throw error;
    }
    return { status: 'failed', text: `${flow.to} failed: ${error.message}`, asked };
  } finally {
    trace?.end(failure);
  }
}

/** The recipient, and the message to it with its instructions. */
interface Recipient {
  readonly agent: TeamAgent;
  readonly own: PromptItem;
  readonly instructions: string;
}

/** The newest earlier exchanges between the two agents that fit beside the message. */
async function memory(
  { scope, agent: sender }: CallsSetting,
  call: ToolCallItem,
  flow: Flow,
  { agent, own, instructions }: Recipient,
): Promise<readonly PromptItem[]> {
  if (flow.memory === 'none') return [];
  const ofRun = scope.finished.exchanges(sender.name, flow.to, call.timestamp);
  const earlier = [...(await scope.team.exchanges(sender.name, flow.to)), ...ofRun];
  const others = estimateTokens(promptBytes(joinInstructions(agent, instructions), [own]));
  return exchangeItems(earlier, historyBudget(agent.reachedWindowTokens, others));
}
