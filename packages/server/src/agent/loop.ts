import type { AgentDefinition } from '@runwire/agency';
import type { RunEventBody, ToolCallItem, ToolOutputItem } from '../domain/events.ts';
import { RunFailure } from '../domain/run-failure.ts';
import { shownStep } from '../domain/shown-step.ts';
import type { Step } from '../domain/step.ts';
import { addUsage, type Usage } from '../domain/usage.ts';
import { type CalledTool, callTool, OUTCOME_UNKNOWN } from './call-tool.ts';
import type { Model, PromptItem, Room, Tool } from './ports.ts';
import { estimatedUsage, type Progress, promptBytes } from './progress.ts';
import { ResponseAssembly } from './response-assembly.ts';

export interface LoopInput {
  readonly runId: string;
  readonly attempt: number;
  readonly agent: AgentDefinition;
  readonly tools: readonly Tool[];
  readonly model: Model;
  readonly prompt: readonly PromptItem[];
  /** What earlier attempts have finished; it is not done again, and `progress` has it already. */
  readonly finished: readonly Step[];
  /** No call was under way when the earlier attempt left: one without an outcome was not begun. */
  readonly leftBetweenSteps: boolean;
  readonly userContext: unknown;
  readonly maxSteps: number;
  readonly progress: Progress;
  /** Of the log that the events go to. */
  readonly room: Room;
  readonly signal: AbortSignal;
  /** What a call of a model or a tool has to wait for before it is started; null: nothing. */
  mayCall(): Promise<void> | null;
  emit(event: RunEventBody): void;
  /** Resolves when the step is durable; only then is its result used. */
  journal(step: Step): Promise<void>;
  /** Throws where the run is to stop between two steps; it is left to others only where `mayHandOver`. */
  stopHere(mayHandOver: boolean): void;
}

/**
 * Runs the agent to its last word. Resolves to the step that ended the run: its record commits with the end. A later
 * attempt walks the same way: where the journal has the next step it is taken from there, so the prompt and the numbers
 * of the steps come out as they did the first time.
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
    // Whoever took it as left between steps would make the open calls again.
    input.stopHere(open.size === 0);
    // A call is a step too, and none of them begins beyond the limit.
    if (progress.steps + calls.length > maxSteps) break;
    const shown = [...prompt];
    prompt.push(...shownStep(step.output));
    const before = progress.steps;
    progress.steps += calls.length;
    const outputs = await Promise.all(
      calls.map((call, place) => {
        const done = outputOf(finished, call.callId);
        if (done !== undefined) return done;
        const called = open.has(call.callId) && !mayRepeat(input, call) ? OUTCOME_UNKNOWN : null;
        return toolStep(input, call, before + 1 + place, shown, called);
      }),
    );
    for (const { callId } of calls) open.delete(callId);
    input.stopHere(open.size === 0);
    for (const output of outputs) prompt.push({ kind: 'tool_output', callId: output.callId, output: output.text });
  }
  throw new RunFailure('step_limit', `The run took ${maxSteps} steps without reaching an answer.`);
}

/** Those that an earlier attempt may have begun, and of which no outcome is stored. */
function openCalls(finished: readonly Step[]): Set<string> {
  const calls = finished.flatMap(({ kind, output }) => (kind === 'model' ? output : []));
  const ids = calls.flatMap((item) => (item.kind === 'tool_call' ? [item.callId] : []));
  return new Set(ids.filter((callId) => outputOf(finished, callId) === undefined));
}

function outputOf(finished: readonly Step[], callId: string): ToolOutputItem | undefined {
  const [output] = finished.find((step) => step.kind === 'tool' && step.callId === callId)?.output ?? [];
  return output?.kind === 'tool_output' ? output : undefined;
}

/** "an open tool call is repeated only if the tool says it may be"; one of a tool that is not there does nothing. */
function mayRepeat(input: LoopInput, call: ToolCallItem): boolean {
  return input.tools.find(({ name }) => name === call.name)?.repeatable ?? true;
}

async function modelStep(input: LoopInput, prompt: readonly PromptItem[]): Promise<Step> {
  const { agent, tools, model, progress, signal } = input;
  await input.mayCall();
  // Behind the last thing that is waited for: nobody is asked for a run that was stopped meanwhile.
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

/** `called`: how the call ended, where it is not to be made. */
async function toolStep(
  input: LoopInput,
  call: ToolCallItem,
  step: number,
  prompt: readonly PromptItem[],
  called: CalledTool | null,
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
