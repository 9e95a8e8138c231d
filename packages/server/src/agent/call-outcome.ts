import { parseOwnJson } from '@runwire/lib/strict-json.ts';
import type { QuestionKind, Settlement } from '../domain/question/question.ts';
import type { ToolCallItem, ToolOutputItem } from '../domain/run/events.ts';
import type { ToolTrace } from '../telemetry/run-trace.ts';
import { beginCall, type ChangedArguments, callStep, type Outcome, recordBegin, toSpeaker } from './call-step.ts';
import { callTool, OUTCOME_UNKNOWN } from './call-tool.ts';
import { delegate, WAITS } from './delegate.ts';
import type { FlowCall } from './flow-tools.ts';
import type { CallsSetting } from './loop-setting.ts';
import { failedCall, type ToolOutcome } from './ports.ts';
import { ask } from './questions.ts';
import type { Flow } from './team.ts';
import { aboutCall } from './text-check.ts';
import { isHidden } from './visible-agent.ts';

/** Gets the outcome of a call, from the journal or by making it. */
export async function toOutcome(
  setting: CallsSetting,
  call: ToolCallItem,
  meaning: FlowCall,
): Promise<ToolOutputItem | typeof WAITS> {
  const { finished } = setting.scope;
  const known = finished.outcome(call.callId);
  if (known !== undefined) {
    setting.loop.trace?.replayedTool(call.agent, call.name, call.callId);
    return known;
  }
  try {
    switch (meaning.kind) {
      case 'tool': {
        const recorded = recordedOutcome(setting, call);
        const change = toChange(setting, call);
        const make = (span: ToolTrace | null) =>
          recorded === null
            ? leafOutcome(setting, call, null, span)
            : checkedOutcome(setting, call, async () => recorded);
        const kind = setting.asks[call.callId];
        if (recorded === null && kind !== undefined) return await askedOutcome(setting, call, kind);
        return await callStep(setting, call, () => traceCall(setting, call, make), change);
      }
      case 'problem':
        return await callStep(setting, call, () => traceCall(setting, call, async () => failedCall(meaning.problem)));
      case 'blocked':
        return await callStep(setting, call, () => traceCall(setting, call, async () => failedCall(meaning.reason)));
      case 'handoff':
        return await callStep(setting, call, () =>
          traceCall(setting, call, async () => handOffOutcome(setting, meaning.flow)),
        );
      case 'delegate': {
        // Its own calls may be open; the call itself has no effect outside.
        finished.close(call.callId);
        const outcome = await delegate(setting, call, meaning);
        if (outcome === WAITS) return WAITS;
        const makeOutcome = async () => outcome;
        const isChecked = outcome.guardrails !== undefined || outcome.status === 'failed';
        const makeChecked = isChecked ? makeOutcome : () => checkedOutcome(setting, call, makeOutcome);
        return await callStep(setting, call, makeChecked, toChange(setting, call));
      }
    }
  } finally {
    finished.close(call.callId);
  }
}

const NOT_EXECUTED = failedCall('Not executed: this is a rerun with recorded tools.');

/** The outcome that a rerun gives a call. Null if the call is made, or asks, as in any run. */
function recordedOutcome(setting: CallsSetting, call: ToolCallItem): ToolOutcome | null {
  const { scope, agent, asks, step } = setting;
  // Nothing is executed if the model called what it did not see.
  if (scope.recorded === null || isHidden(agent, step.hidden, call.name)) return null;
  const found = scope.recorded.find(toWritten(setting, call));
  // The text was cut when it was recorded.
  if (typeof found === 'object' && found !== null) {
    const { text, failed, images, state } = found;
    const more = { ...(images !== undefined && { recordedImages: images }), ...(state !== undefined && { state }) };
    return { status: failed ? 'failed' : 'completed', text, textLength: 0, ...more };
  }
  const settlement = scope.continuation?.settlements.get(call.callId);
  if (settlement !== undefined && settlement.verdict !== 'approved') return null;
  const asksNow = asks[call.callId] !== undefined && settlement === undefined;
  if (asksNow) return found === 'waited' ? null : NOT_EXECUTED;
  // A call of an unknown tool has no effect.
  const mayRepeat = agent.tools.find(({ name }) => name === call.name)?.repeatable ?? true;
  return mayRepeat ? null : NOT_EXECUTED;
}

/** The outcome of a call that needs an answer of the caller. Asks if the caller has not answered yet. */
async function askedOutcome(
  setting: CallsSetting,
  call: ToolCallItem,
  kind: QuestionKind,
): Promise<ToolOutputItem | typeof WAITS> {
  const settlement = setting.scope.continuation?.settlements.get(call.callId);
  switch (settlement?.verdict) {
    case undefined:
      setting.scope.unfinished.wait(
        beginCall(setting, call),
        ask(setting.scope, call, kind, setting.allows?.[call.callId]),
      );
      return WAITS;
    case 'approved':
      return approvedOutcome(setting, call, settlement);
    case 'declined':
      return callStep(setting, call, async () => ({ status: 'failed', text: settlement.text }));
    case 'output': {
      const { text, failed } = settlement;
      const outcome: Outcome = { status: failed ? 'failed' : 'completed', text };
      return callStep(setting, call, () => checkedOutcome(setting, call, async () => outcome), toChange(setting, call));
    }
  }
}

/** Makes an approved call, with the arguments of the approval if it has some. */
function approvedOutcome(setting: CallsSetting, call: ToolCallItem, approval: Approval): Promise<ToolOutputItem> {
  const { argumentsText } = approval;
  const made = argumentsText === undefined ? call : { ...call, text: argumentsText };
  const change: ChangedArguments | undefined =
    argumentsText === undefined
      ? toChange(setting, call)
      : { arguments: parseOwnJson(argumentsText), shownArguments: aboutCall(call).arguments, isByPerson: true };
  return callStep(
    setting,
    call,
    () => traceCall(setting, made, (span) => leafOutcome(setting, made, approval, span)),
    change,
  );
}

/** The call as the model wrote it. */
const toWritten = ({ written }: CallsSetting, call: ToolCallItem): ToolCallItem =>
  written.find(({ callId }) => callId === call.callId) ?? call;

/** What the step of a call records if a guardrail replaced the arguments. */
function toChange(setting: CallsSetting, call: ToolCallItem): ChangedArguments | undefined {
  const written = toWritten(setting, call);
  if (written.text === call.text) return undefined;
  return { arguments: aboutCall(call).arguments, shownArguments: aboutCall(written).arguments, isByPerson: false };
}

/** Asks the guardrails about what the call returned, before the model, readers and traces get it. */
async function checkedOutcome(
  { agent: { guardrails } }: CallsSetting,
  call: ToolCallItem,
  makeOutcome: () => Promise<Outcome>,
): Promise<Outcome> {
  const outcome = await makeOutcome();
  if (guardrails === null || !guardrails.has('toolResult')) return outcome;
  try {
    const subject = { ...aboutCall(call), output: outcome.text };
    const { value, isReplaced, blocked, decisions } = await guardrails.ask('toolResult', subject, call.callId);
    const record = { guardrails: { decisions } };
    if (blocked !== null) {
      const { images: _, recordedImages: __, ...kept } = outcome;
      return { ...kept, ...failedCall(blocked), textLength: blocked.length, ...record };
    }
    return isReplaced ? { ...outcome, text: value, textLength: value.length, ...record } : { ...outcome, ...record };
  } catch (error) {
    await outcome.publication?.discard();
    throw error;
  }
}

/** Makes the span of a call. */
async function traceCall(
  { loop: { trace } }: CallsSetting,
  call: ToolCallItem,
  makeOutcome: (span: ToolTrace | null) => Promise<Outcome>,
): Promise<Outcome> {
  const span = trace?.tool(call.agent, call.name, call.callId, call.text) ?? null;
  if (span === null) return makeOutcome(null);
  try {
    const outcome = await makeOutcome(span);
    span.end(outcome.status === 'failed' ? 'tool_failed' : null, outcome.text);
    return outcome;
  } catch (error) {
    span.end('cancelled', null);
    throw error;
  }
}

type Approval = Extract<Settlement, { verdict: 'approved' }>;

async function leafOutcome(
  setting: CallsSetting,
  call: ToolCallItem,
  approved: Approval | null,
  span: ToolTrace | null,
): Promise<Outcome> {
  const { scope, loop, agent, prompt, step } = setting;
  const { userContext, signal, finished, continuation, room } = scope;
  // A call of an unknown tool has no effect.
  const mayRepeat = agent.tools.find(({ name }) => name === call.name)?.repeatable ?? true;
  if (finished.isOpen(call.callId) && !mayRepeat) return OUTCOME_UNKNOWN;
  const until = scope.mayCall();
  if (until !== null) await until;
  signal.throwIfAborted();
  if (approved !== null && !finished.isOpen(call.callId)) await recordBegin(setting, call);
  const approval = approved === null ? null : { questionId: approved.questionId, reason: approved.reason };
  // An approved call has the key of the run in which the model made it, except in a fork of its chat.
  const runId = approved === null ? scope.runId : (continuation?.keyRunId ?? scope.runId);
  const member = () => scope.team.member();
  const state = () => scope.state.beforeCalls(step);
  const speaker = toSpeaker(call.agent, loop);
  const onProgress = (text: string) => scope.emit({ type: 'tool_progress', ...speaker, callId: call.callId, text });
  const traceparent = scope.propagatesTrace ? span?.traceparent : undefined;
  const about = { runId, userContext, member, state, signal, prompt, approval, traceparent };
  return checkedOutcome(setting, call, () => callTool(call, agent.tools, { ...about, room, onProgress }));
}

function handOffOutcome({ scope: { progress, limits }, loop }: CallsSetting, { to, lasts }: Flow): Outcome {
  if (progress.handOffs >= limits.handOffs) {
    const text = `This run has reached its limit of ${limits.handOffs} hand-offs; answer the user yourself.`;
    return { status: 'failed', text };
  }
  progress.handOffs += 1;
  const text = `Transfer completed. You are ${to}. Please continue the task.`;
  // The loop of a delegation ends with its answer, so its agents never begin a run.
  const isLasting = lasts !== undefined && loop.loop === '';
  return { status: 'completed', text, handoff: to, ...(isLasting && { lasts }) };
}
