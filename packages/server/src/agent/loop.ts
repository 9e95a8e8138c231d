import { parseOwnJson } from '@runwire/lib/strict-json.ts';
import { ModelFailure, promptBytes } from '@runwire/models';
import { historyBudget } from '../domain/model/model-window.ts';
import { estimateTokens } from '../domain/model/usage.ts';
import type { QuestionKind, Settlement } from '../domain/question/question.ts';
import type { Speaker, ToolCallItem, ToolOutputItem } from '../domain/run/events.ts';
import { RunFailure } from '../domain/run/run-failure.ts';
import { shownStep } from '../domain/run/shown-step.ts';
import type { Step, WrongTry } from '../domain/run/step.ts';
import type { UnfinishedCall } from '../domain/run/unfinished-step.ts';
import type { AgentTrace, ToolTrace } from '../telemetry/run-trace.ts';
import { callTool, OUTCOME_UNKNOWN } from './call-tool.ts';
import { exchangeItems } from './exchange-window.ts';
import { type FlowCall, flowCalls } from './flow-tools.ts';
import { toErrorType } from './model-step.ts';
import type { LoopPosition, ModelStepInput } from './model-step-input.ts';
import { MAX_REPAIRS, repairItems } from './output-check.ts';
import { failedCall, type PromptItem, type StepReplay, type ToolOutcome } from './ports.ts';
import { ask } from './questions.ts';
import type { RunScope } from './run-scope.ts';
import { RunWindow } from './run-window.ts';
import type { Flow, TeamAgent } from './team.ts';

/*
 * A run is a tree of loops. The root loop answers the user; each `send_message` begins a loop of the recipient, named by
 * its call id:
 *
 *   root:      model ──▶ calls ──▶ model ──▶ … ──▶ answer to the user
 *                          ├─ tool
 *                          ├─ a call that the caller must approve or make: the run ends with a question, and the next
 *                          │  run of the chat continues here
 *                          ├─ hand-off: from here on the loop belongs to another agent
 *                          └─ send_message ──▶ loop of the recipient ──▶ its last text is the call's output
 *
 * A later attempt takes the same path: a step that the journal contains is taken from there, so the prompts are the same
 * as the first time.
 */

export interface LoopStart extends LoopPosition {
  readonly depth: number;
  readonly agent: TeamAgent;
  /** The message that began the loop has them, or the request. They count until another agent takes over. May be empty. */
  readonly addedInstructions: string;
  readonly prompt: readonly PromptItem[];
  /** See `ModelRequest.earlierItems`. */
  readonly earlierItems: number;
  /** The span of the agent that began the loop; null if traces are off. */
  readonly trace: AgentTrace | null;
}

/** Runs the loop until its last answer. Resolves to its last step, or to null if a call waits for an answer of the caller. */
export async function runLoop(scope: RunScope, start: LoopStart): Promise<Step | null> {
  const { finished } = scope;
  const prompt = [...start.prompt];
  const replays: StepReplay[] = [];
  const window = new RunWindow(prompt.length);
  let { agent } = start;
  let instructions = joinInstructions(agent, start.addedInstructions);
  let lastModel: string | null = null;
  let repairs = 0;
  // A choice that requires a call in every step would never end.
  let hasCalled = false;
  for (let indexInLoop = 1; ; indexInLoop += 1) {
    const sent = window.fit(prompt, instructions, agent.windowTokens);
    const known = finished.modelStep(start.loop, indexInLoop);
    if (agent.failedServers.length > 0) reportServers(scope, start, agent, known !== undefined);
    const { loop, callerAgent, earlierItems, trace } = start;
    if (known !== undefined && known.model !== null) trace?.replayedChat(agent.name, known.model);
    const input: ModelStepInput = {
      loop,
      callerAgent,
      agent,
      instructions,
      indexInLoop,
      prompt: sent,
      earlierItems,
      replays,
      lastModel,
      hasCalled,
      trace,
    };
    const step: Step = known ?? (await scope.modelStep(input));
    lastModel = step.model;
    if (step.tried !== undefined) {
      if (repairs === MAX_REPAIRS) throw invalidOutput(agent.name, step.tried);
      repairs += 1;
      prompt.push(...repairItems(step.tried));
      continue;
    }
    const calls = step.output.filter((item) => item.kind === 'tool_call');
    if (calls.length === 0) {
      if (start.loop === '' && agent.output !== null) scope.progress.output = { value: JSON.parse(toText(step)) };
      return step;
    }
    hasCalled = true;
    const setting = { scope, loop: start, agent, prompt: [...prompt], asks: step.asks ?? {}, allows: step.allows };
    const shown = shownStep(step.output);
    if (step.replay !== undefined) replays.push({ index: prompt.length, count: shown.length, replay: step.replay });
    prompt.push(...shown);
    const meanings = flowCalls(agent, calls);
    const outputs = await allDone(calls.map((call, index) => toOutcome(setting, call, meanings[index] as FlowCall)));
    if (!outputs.every((output) => output !== WAITS)) return null;
    for (const { callId, text } of outputs) prompt.push({ kind: 'tool_output', callId, output: text });
    if (start.loop === '') prompt.push(...(scope.continuation?.messages.get(indexInLoop) ?? []));
    const next = outputs.find(({ handoff }) => handoff !== undefined)?.handoff;
    if (next === undefined || !scope.team.has(next)) continue;
    // What the request adds is for the agent that begins the run, also if another agent hands back to it.
    const isRoot = start.loop === '' && next === start.agent.name;
    agent = isRoot ? start.agent : await scope.team.agent(next);
    instructions = isRoot ? joinInstructions(agent, start.addedInstructions) : agent.instructions;
    lastModel = null;
    hasCalled = false;
  }
}

/** Reports each failed server once per run. If the agent has a finished step, an earlier attempt has reported its servers. */
function reportServers(scope: RunScope, position: LoopPosition, agent: TeamAgent, wasReported: boolean): void {
  const { progress } = scope;
  progress.reportedServers ??= new Set();
  for (const failed of agent.failedServers) {
    if (progress.reportedServers.has(failed.server)) continue;
    progress.reportedServers.add(failed.server);
    if (!wasReported) scope.emit({ type: 'mcp_server_failed', ...toSpeaker(agent.name, position), ...failed });
  }
}

function invalidOutput(agent: string, { problem }: WrongTry): RunFailure {
  const sentence = `The answer of \`${agent}\` is not what its \`output\` requires: ${problem}.`;
  return new RunFailure('output_invalid', sentence);
}

/** Waits for all, so that no loop continues after the run has failed. */
async function allDone<T>(promises: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** The setting of the calls of one answer. */
interface Setting {
  readonly scope: RunScope;
  readonly loop: LoopStart;
  readonly agent: TeamAgent;
  /** The prompt with which the model made the calls. */
  readonly prompt: readonly PromptItem[];
  readonly asks: NonNullable<Step['asks']>;
  readonly allows: Step['allows'];
}

/** The call, or a call of the loop that it began, waits for an answer of the caller. */
const WAITS = 'waits';

/** A call's outcome, with what its step records besides. */
interface Outcome extends ToolOutcome {
  readonly handoff?: string;
  readonly asked?: { readonly agent: string; readonly message: string };
}

async function toOutcome(
  setting: Setting,
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
        if (recorded !== null)
          return await callStep(setting, call, () => traceCall(setting, call, async () => recorded));
        const kind = setting.asks[call.callId];
        if (kind !== undefined) return await askedOutcome(setting, call, kind);
        return await callStep(setting, call, () =>
          traceCall(setting, call, (span) => leafOutcome(setting, call, null, span)),
        );
      }
      case 'problem':
        return await callStep(setting, call, () => traceCall(setting, call, async () => failedCall(meaning.problem)));
      case 'handoff':
        return await callStep(setting, call, () =>
          traceCall(setting, call, async () => handOffOutcome(setting, meaning.to)),
        );
      case 'delegate': {
        // Its own calls may be open; the call itself has no effect outside.
        finished.close(call.callId);
        const outcome = await delegate(setting, call, meaning);
        return outcome === WAITS ? WAITS : await callStep(setting, call, async () => outcome);
      }
    }
  } finally {
    finished.close(call.callId);
  }
}

const NOT_EXECUTED = failedCall('Not executed: this is a rerun with recorded tools.');

/** The outcome that a rerun gives a call. Null if the call is made, or asks, as in any run. */
function recordedOutcome({ scope, agent, asks }: Setting, call: ToolCallItem): ToolOutcome | null {
  if (scope.recorded === null) return null;
  const found = scope.recorded.find(call);
  // The text was cut when it was recorded.
  if (typeof found === 'object' && found !== null)
    return { status: found.failed ? 'failed' : 'completed', text: found.text, textLength: 0 };
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
  setting: Setting,
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
      return callStep(setting, call, async () => ({ status: failed ? 'failed' : 'completed', text }));
    }
  }
}

/** Makes an approved call, with the arguments of the approval if it has some. */
function approvedOutcome(setting: Setting, call: ToolCallItem, approval: Approval): Promise<ToolOutputItem> {
  const { argumentsText } = approval;
  const made = argumentsText === undefined ? call : { ...call, text: argumentsText };
  const change =
    argumentsText === undefined
      ? undefined
      : { arguments: parseOwnJson(argumentsText), shownArguments: parseOwnJson(call.text.trim() || '{}') };
  return callStep(
    setting,
    call,
    () => traceCall(setting, made, (span) => leafOutcome(setting, made, approval, span)),
    change,
  );
}

/** Makes the span of a call. */
async function traceCall(
  { loop: { trace } }: Setting,
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
  setting: Setting,
  call: ToolCallItem,
  approved: Approval | null,
  span: ToolTrace | null,
): Promise<Outcome> {
  const { scope, loop, agent, prompt } = setting;
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
  const speaker = toSpeaker(call.agent, loop);
  const onProgress = (text: string) => scope.emit({ type: 'tool_progress', ...speaker, callId: call.callId, text });
  const traceparent = scope.propagatesTrace ? span?.traceparent : undefined;
  const about = { runId, userContext, member, signal, prompt, approval, traceparent };
  return callTool(call, agent.tools, { ...about, room, onProgress });
}

function handOffOutcome({ scope: { progress, limits } }: Setting, to: string): Outcome {
  if (progress.handOffs >= limits.handOffs) {
    const text = `This run has reached its limit of ${limits.handOffs} hand-offs; answer the user yourself.`;
    return { status: 'failed', text };
  }
  progress.handOffs += 1;
  return { status: 'completed', text: `Transfer completed. You are ${to}. Please continue the task.`, handoff: to };
}

type Delegation = Extract<FlowCall, { kind: 'delegate' }>;

/** Runs the recipient's loop. Its failure is the call's outcome, and the sender's loop continues. */
async function delegate(
  setting: Setting,
  call: ToolCallItem,
  { flow, message, instructions }: Delegation,
): Promise<Outcome | typeof WAITS> {
  const { scope, loop, agent: sender } = setting;
  if (loop.depth >= scope.limits.depth) {
    const text = `Messages to agents may be nested ${scope.limits.depth} deep, and this is the limit; do the task yourself.`;
    return { status: 'failed', text };
  }
  const asked = { agent: flow.to, message };
  const startedAt = Date.now();
  let trace: AgentTrace | null = null;
  let failure: string | null = null;
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
      trace,
    });
    if (last === null) return WAITS;
    return { status: 'completed', text: toText(last), asked };
  } catch (error) {
    failure = toErrorType(error, scope.signal);
    const mayContinue = error instanceof ModelFailure && error.code !== 'internal_error';
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

export const joinInstructions = ({ instructions }: TeamAgent, added: string) =>
  added === '' ? instructions : `${instructions}\n\n${added}`;

/** The newest earlier exchanges between the two agents that fit beside the message. */
async function memory(
  { scope, agent: sender }: Setting,
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

const toText = ({ output }: Step) => output.map((item) => (item.kind === 'message' ? item.text : '')).join('');

function cutOutput({ text, textLength = text.length }: OutcomeText, characters: number): string {
  if (textLength <= characters) return text;
  // Does not cut a character of two code units in half.
  const end = text.codePointAt(characters - 1) === text.charCodeAt(characters - 1) ? characters : characters - 1;
  return `${text.slice(0, end)}\n[The output has ${textLength} characters; these are the first ${end}.]`;
}

type OutcomeText = Pick<ToolOutcome, 'text' | 'textLength'>;

/** Makes durable that an approved call begins, so that no later attempt makes it again. */
async function recordBegin(setting: Setting, call: ToolCallItem): Promise<void> {
  const { scope } = setting;
  const begun = beginCall(setting, call);
  await scope.journal({ ...begun, kind: 'begin', status: 'completed', output: [], completedAt: begun.startedAt });
  scope.signal.throwIfAborted();
}

const toSpeaker = (agent: string, { loop, callerAgent }: LoopPosition): Speaker => ({
  agent,
  callerAgent,
  ...(loop === '' ? {} : { loop }),
});

/** Gives a call a step's number. */
function beginCall({ scope: { progress }, loop: { loop, callerAgent }, agent }: Setting, call: ToolCallItem) {
  progress.steps += 1;
  return {
    step: progress.steps,
    kind: 'tool',
    loop,
    indexInLoop: 0,
    agent: agent.name,
    callerAgent,
    model: null,
    tool: call.name,
    callId: call.callId,
    usage: null,
    startedAt: Date.now(),
  } as const satisfies UnfinishedCall;
}

/** Gets the outcome of a call and makes it durable. `change` is given if a person changed the arguments. */
async function callStep(
  setting: Setting,
  call: ToolCallItem,
  makeOutcome: () => Promise<Outcome>,
  change?: Pick<Step, 'arguments' | 'shownArguments'>,
): Promise<ToolOutputItem> {
  const { scope, loop: position, agent } = setting;
  const { progress, signal, gate, limits } = scope;
  return gate.step(async () => {
    signal.throwIfAborted();
    const begun = beginCall(setting, call);
    const outcome = await unlessCut(scope, begun, makeOutcome);
    const { handoff, asked, publication } = outcome;
    const speaker = toSpeaker(call.agent, position);
    const toOutputItem = (about: OutcomeText & Pick<Outcome, 'status'>): ToolOutputItem => ({
      kind: 'tool_output',
      ...speaker,
      callId: call.callId,
      text: changeNote(change) + cutOutput(about, limits.toolOutputCharacters),
      timestamp: progress.timestamp(),
      ...(about.status === 'failed' && { failed: true }),
      ...(handoff === undefined ? {} : { handoff }),
    });
    const getStep = (status: Step['status'], item: ToolOutputItem): Step => ({
      ...begun,
      status,
      output: [item],
      ...change,
      ...(asked === undefined ? {} : { asked }),
      completedAt: Date.now(),
    });
    let shown: OutcomeText & Pick<Outcome, 'status'> = outcome;
    if (publication !== undefined) {
      const published = toOutputItem(outcome);
      const problem = await scope.publish(publication, getStep(outcome.status, published), published);
      if (problem === null) return published;
      shown = failedCall(problem);
    }
    signal.throwIfAborted();
    const { status } = shown;
    const item = toOutputItem(shown);
    progress.items.push(item);
    if (asked !== undefined && status === 'completed') scope.finished.addExchange(agent.name, asked, item);
    if (handoff !== undefined) scope.emit({ type: 'agent_updated', ...speaker, newAgent: handoff });
    scope.emit({ type: 'run_item', name: handoff === undefined ? 'tool_output' : 'handoff_occured', item });
    await scope.journal(getStep(status, item));
    return item;
  });
}

/** The model reads with which arguments the call was made: its own are in the prompt. */
function changeNote(change: Pick<Step, 'arguments'> | undefined): string {
  return change === undefined ? '' : `A person changed the arguments to ${JSON.stringify(change.arguments)}.\n`;
}

/** If the run stops before the outcome, the call is shown as cut. Changed files become visible with their step. */
async function unlessCut(
  { signal, unfinished }: RunScope,
  call: UnfinishedCall,
  makeOutcome: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    const outcome = await makeOutcome();
    if (outcome.publication === undefined) signal.throwIfAborted();
    return outcome;
  } catch (error) {
    unfinished.cut(call, error);
    throw error;
  }
}
