import type { AgentDefinition } from '@runwire/agency';
import type { OutputItem, RunEventBody, ToolCallItem, ToolOutputItem } from '../domain/events.ts';
import { shownStep } from '../domain/shown-step.ts';
import type { Usage } from '../domain/usage.ts';
import { callTool } from './call-tool.ts';
import { type Model, type PromptItem, type Room, RunFailure, type Tool } from './ports.ts';
import { estimatedUsage, type Progress, promptBytes } from './progress.ts';
import { ResponseAssembly } from './response-assembly.ts';

/** A finished step, as the journal keeps it: enough to go on from without doing it again. */
export interface StepRecord {
  readonly step: number;
  readonly kind: 'model' | 'tool';
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly model: string | null;
  readonly tool: string | null;
  readonly callId: string | null;
  readonly status: 'completed' | 'failed';
  readonly usage: Usage | null;
  /** What came out: the response's items, or the tool's output. */
  readonly output: readonly (OutputItem | ToolOutputItem)[];
  readonly startedAt: number;
  readonly completedAt: number;
}

export interface LoopInput {
  readonly runId: string;
  readonly attempt: number;
  readonly agent: AgentDefinition;
  readonly tools: readonly Tool[];
  readonly model: Model;
  readonly prompt: readonly PromptItem[];
  readonly userContext: unknown;
  readonly maxSteps: number;
  readonly progress: Progress;
  /** Of the log that the events go to. */
  readonly room: Room;
  readonly signal: AbortSignal;
  emit(event: RunEventBody): void;
  /** Resolves when the step is durable; only then is its result used. */
  journal(step: StepRecord): Promise<void>;
  /** Throws where the run is to stop between two steps. */
  stopHere(): void;
}

/** Runs the agent to its last word. Resolves to the step that ended the run: its record commits with the end. */
export async function runAgent(input: LoopInput): Promise<StepRecord> {
  const { progress, maxSteps } = input;
  const prompt = [...input.prompt];
  for (const item of prompt) if (item.kind === 'tool_call') progress.callIds.add(item.callId);
  while (progress.steps < maxSteps) {
    const step = await modelStep(input, prompt);
    const calls = step.output.filter((item): item is ToolCallItem => item.kind === 'tool_call');
    if (calls.length === 0) return step;
    await input.journal(step);
    input.stopHere();
    // A call is a step too, and none of them begins beyond the limit.
    if (progress.steps + calls.length > maxSteps) break;
    const shown = [...prompt];
    prompt.push(...shownStep(step.output));
    const outputs = await Promise.all(calls.map((call) => toolStep(input, call, shown)));
    input.stopHere();
    for (const output of outputs) prompt.push({ kind: 'tool_output', callId: output.callId, output: output.text });
  }
  throw new RunFailure('step_limit', `The run took ${maxSteps} steps without coming to an answer.`);
}

async function modelStep(input: LoopInput, prompt: readonly PromptItem[]): Promise<StepRecord> {
  const { agent, tools, model, progress, signal } = input;
  signal.throwIfAborted();
  const startedAt = Date.now();
  progress.steps += 1;
  const step = progress.steps;
  const assembly = new ResponseAssembly(model.id, agent.name, progress, input.room, input.emit);
  const used = (hasBegun: boolean) =>
    assembly.reportedUsage ?? estimatedUsage(promptBytes(agent.instructions, prompt), assembly.outputBytes, hasBegun);
  let usage: Usage;
  try {
    const request = {
      runId: input.runId,
      step,
      attempt: input.attempt,
      instructions: agent.instructions,
      prompt,
      tools,
      ...(agent.reasoning === undefined ? {} : { reasoning: agent.reasoning }),
    };
    usage = (await model.call(request, assembly, signal)).usage ?? used(true);
  } catch (error) {
    progress.add(used(assembly.hasBegun), model.id);
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

async function toolStep(input: LoopInput, call: ToolCallItem, prompt: readonly PromptItem[]): Promise<ToolOutputItem> {
  const { progress, signal, runId, userContext } = input;
  const startedAt = Date.now();
  progress.steps += 1;
  const step = progress.steps;
  const { status, text } = await callTool(call, input.tools, { runId, userContext, signal, prompt });
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
