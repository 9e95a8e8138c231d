import type { Reasoning } from '@runwire/agency';
import type { RunEventBody, ToolCallItem, ToolOutputItem } from '../domain/events.ts';
import { RunFailure } from '../domain/run-failure.ts';
import { shownStep } from '../domain/shown-step.ts';
import type { Step } from '../domain/step.ts';
import { addUsage, type Usage } from '../domain/usage.ts';
import { callTool, OUTCOME_UNKNOWN, type ToolOutcome } from './call-tool.ts';
import type { Model, PromptItem, Room, Tool } from './ports.ts';
import { estimatedUsage, type Progress, promptBytes } from './progress.ts';
import { ResponseAssembly } from './response-assembly.ts';

export interface LoopAgent {
  readonly name: string;
  readonly instructions: string;
  readonly reasoning: Reasoning | undefined;
}

export interface LoopInput {
  readonly runId: string;
  readonly attempt: number;
  readonly agent: LoopAgent;
  readonly tools: readonly Tool[];
  readonly model: Model;
  readonly prompt: readonly PromptItem[];
  /** The steps that earlier attempts finished. They are not repeated, and `progress` already contains them. */
  readonly finished: readonly Step[];
  /** True if no call was in progress when the earlier attempt ended, so a call without an outcome was not started. */
  readonly leftBetweenSteps: boolean;
  readonly userContext: unknown;
  readonly maxSteps: number;
  readonly progress: Progress;
  /** The room in the log that receives the events. */
  readonly room: Room;
  readonly signal: AbortSignal;
  /** Returns a promise to wait for before a model or tool is called, or null. */
  mayCall(): Promise<void> | null;
  emit(event: RunEventBody): void;
  /** Resolves when the step is durable. Its result is not used before that. */
  journal(step: Step): Promise<void>;
  /** Throws if the run must stop between two steps. Another node may continue it only if `mayHandOver` is true. */
  stopHere(mayHandOver: boolean): void;
}

/**
 * Runs the agent until its last answer. Resolves to the step that ended the run: its record commits together with the
 * end. A later attempt takes the same path: if the journal contains the next step, it is taken from there, so the
 * prompt and the step numbers are the same as the first time.
 */
export async function runAgent(input: LoopInput): Promise<Step> {
  const { progress, maxSteps, finished } = input;
  const prompt = [...input.prompt];
  for (const item of prompt) if (item.kind === 'tool_call') progress.callIds.add(item.callId);
  const open = input.leftBetweenSteps ? new Set<string>() : openCalls(finished);
  while (progress.steps < maxSteps) {
    const known = finished.find(({ kind, step }) => kind === 'model' && step === progress.steps + 1);
    if (known !== undefined) progress.steps += 1;
    const step = known ?? (await modelStep(input, prompt));
    const calls = step.output.filter((item): item is ToolCallItem => item.kind === 'tool_call');
    if (calls.length === 0) return step;
    if (known === undefined) await input.journal(step);
    // A node that takes over between steps would repeat the open calls.
    input.stopHere(open.size === 0);
    // A tool call is also a step, and no call starts beyond the limit.
    if (progress.steps + calls.length > maxSteps) break;
    const shown = [...prompt];
    prompt.push(...shownStep(step.output));
    const before = progress.steps;
    progress.steps += calls.length;
    const outputs = await Promise.all(
      calls.map((call, index) => {
        const done = outputOf(finished, call.callId);
        if (done !== undefined) return done;
        const called = open.has(call.callId) && !mayRepeat(input, call) ? OUTCOME_UNKNOWN : null;
        return toolStep(input, call, before + 1 + index, shown, called);
      }),
    );
    for (const { callId } of calls) open.delete(callId);
    input.stopHere(open.size === 0);
    for (const output of outputs) prompt.push({ kind: 'tool_output', callId: output.callId, output: output.text });
  }
  throw new RunFailure('step_limit', `The run took ${maxSteps} steps without reaching an answer.`);
}

/** Returns the calls that an earlier attempt may have started and that have no stored outcome. */
function openCalls(finished: readonly Step[]): Set<string> {
  const calls = finished.flatMap(({ kind, output }) => (kind === 'model' ? output : []));
  const ids = calls.flatMap((item) => (item.kind === 'tool_call' ? [item.callId] : []));
  return new Set(ids.filter((callId) => outputOf(finished, callId) === undefined));
}

function outputOf(finished: readonly Step[], callId: string): ToolOutputItem | undefined {
  const [output] = finished.find((step) => step.kind === 'tool' && step.callId === callId)?.output ?? [];
  return output?.kind === 'tool_output' ? output : undefined;
}

/** An open tool call is repeated only if the tool allows it. A call of an unknown tool has no effect. */
function mayRepeat(input: LoopInput, call: ToolCallItem): boolean {
  return input.tools.find(({ name }) => name === call.name)?.repeatable ?? true;
}

async function modelStep(input: LoopInput, prompt: readonly PromptItem[]): Promise<Step> {
  const { agent, tools, model, progress, signal } = input;
  await input.mayCall();
  // Checked after the last wait, so that no provider is called for a stopped run.
  signal.throwIfAborted();
  const startedAt = Date.now();
  progress.steps += 1;
  const step = progress.steps;
  const assembly = new ResponseAssembly(model.id, agent.name, progress, input.room, input.emit);
  const used = (hasBegun: boolean) =>
    assembly.reportedUsage ?? estimatedUsage(promptBytes(agent.instructions, prompt), assembly.outputBytes, hasBegun);
  const withEarlier = (usage: Usage) => addUsage(assembly.earlierUsage, usage);
  let usage: Usage;
  try {
    const request = {
      runId: input.runId,
      step,
      attempt: input.attempt,
      instructions: agent.instructions,
      prompt,
      tools,
      mayCall: () => input.mayCall(),
      ...(agent.reasoning === undefined ? {} : { reasoning: agent.reasoning }),
    };
    usage = withEarlier((await model.call(request, assembly, signal)).usage ?? used(true));
  } catch (error) {
    progress.add(withEarlier(used(assembly.hasBegun)), model.id);
    throw error;
  }
  progress.add(usage, model.id);
  assembly.finish(usage);
  return {
    step,
    kind: 'model',
    agent: agent.name,
    callerAgent: null,
    model: model.id,
    tool: null,
    callId: null,
    status: 'completed',
    usage,
    output: assembly.output,
    startedAt,
    completedAt: Date.now(),
  };
}

/** `called` is the outcome of a call that must not be made. */
async function toolStep(
  input: LoopInput,
  call: ToolCallItem,
  step: number,
  prompt: readonly PromptItem[],
  called: ToolOutcome | null,
): Promise<ToolOutputItem> {
  const { progress, signal, runId, userContext } = input;
  if (called === null) await input.mayCall();
  signal.throwIfAborted();
  const startedAt = Date.now();
  const { status, text } = called ?? (await callTool(call, input.tools, { runId, userContext, signal, prompt }));
  signal.throwIfAborted();
  const item: ToolOutputItem = {
    kind: 'tool_output',
    agent: call.agent,
    callerAgent: call.callerAgent,
    callId: call.callId,
    text,
    timestamp: progress.timestamp(),
  };
  progress.items.push(item);
  input.emit({ type: 'run_item', name: 'tool_output', item });
  await input.journal({
    step,
    kind: 'tool',
    agent: call.agent,
    callerAgent: call.callerAgent,
    model: null,
    tool: call.name,
    callId: call.callId,
    status,
    usage: null,
    output: [item],
    startedAt,
    completedAt: Date.now(),
  });
  return item;
}
