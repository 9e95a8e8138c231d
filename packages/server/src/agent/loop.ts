import type { ToolCallItem, ToolOutputItem } from '../domain/run/events.ts';
import { RunFailure } from '../domain/run/run-failure.ts';
import { shownStep } from '../domain/run/shown-step.ts';
import type { Step, WrongTry } from '../domain/run/step.ts';
import { toMadeCalls } from './call-checks.ts';
import { toOutcome } from './call-outcome.ts';
import { toSpeaker } from './call-step.ts';
import { WAITS } from './delegate.ts';
import { type FlowCall, flowCalls } from './flow-tools.ts';
import { type CallsSetting, joinInstructions, type LoopStart, toText } from './loop-setting.ts';
import type { LoopPosition, ModelStepInput } from './model-step-input.ts';
import { MAX_REPAIRS, repairItems } from './output-check.ts';
import { outputItem } from './output-images.ts';
import type { StepReplay } from './ports.ts';
import type { RunScope } from './run-scope.ts';
import { RunWindow } from './run-window.ts';
import type { TeamAgent } from './team.ts';
import { outputCheck } from './text-check.ts';
import { visibleAgent } from './visible-agent.ts';

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
      textCheck: loop === '' ? outputCheck(agent) : start.resultCheck,
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
    const outputs =
      findOutcomes(scope, start, calls) ??
      (await makeCalls(scope, start, { agent: visibleAgent(agent, step.hidden), step, prompt, calls }));
    if (!outputs.every((output) => output !== WAITS)) return null;
    const shown = shownStep(step.output);
    if (step.replay !== undefined) replays.push({ index: prompt.length, count: shown.length, replay: step.replay });
    prompt.push(...shown);
    for (const output of outputs) prompt.push(outputItem(output, scope.images));
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

/**
 * Finds the outcomes of an answer's calls if the journal has all of them. Without promises: a rerun walks many answers before it asks
 * a model.
 */
function findOutcomes(
  { finished }: RunScope,
  { trace }: LoopStart,
  calls: readonly ToolCallItem[],
): readonly ToolOutputItem[] | null {
  const outcomes = calls.map(({ callId }) => finished.outcome(callId));
  if (!outcomes.every((outcome) => outcome !== undefined)) return null;
  for (const { agent, name, callId } of calls) trace?.replayedTool(agent, name, callId);
  return outcomes;
}

interface AnswerWithCalls extends Pick<CallsSetting, 'agent' | 'step' | 'prompt'> {
  readonly calls: readonly ToolCallItem[];
}

/** Gets the outcome of each call. They run concurrently. */
function makeCalls(scope: RunScope, loop: LoopStart, { agent, step, prompt, calls }: AnswerWithCalls) {
  const { asks = {}, allows } = step;
  const setting = { scope, loop, runLoop, agent, step, prompt: [...prompt], written: calls, asks, allows };
  const made = toMadeCalls(calls, step.guardrails?.calls);
  const meanings = flowCalls(agent, made, step.guardrails?.calls);
  return allDone(made.map((call, index) => toOutcome(setting, call, meanings[index] as FlowCall)));
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
