import { RunFailure } from '../domain/run-failure.ts';
import type { Step } from '../domain/step.ts';
import { addUsage, type Usage } from '../domain/usage.ts';
import { flowTools, handOffName } from './flow-tools.ts';
import type { ModelTool, PromptItem, StepReplay } from './ports.ts';
import { estimatedUsage, promptBytes } from './progress.ts';
import { ResponseAssembly } from './response-assembly.ts';
import type { RunScope } from './run-scope.ts';
import type { TeamAgent } from './team.ts';

/** The place of a step in the run. */
export interface LoopPlace {
  /** The call id of the `send_message` that began the loop; empty for the root loop, which answers the user. */
  readonly loop: string;
  readonly callerAgent: string | null;
}

/** What the model of a step is sent. */
export interface SentPrompt {
  readonly prompt: readonly PromptItem[];
  /** What earlier steps of the loop returned for their provider. */
  readonly replays: readonly StepReplay[];
}

/** Asks the model once. The step is durable when it returns, except for the last one of the run, which has no calls. */
export async function modelStep(
  scope: RunScope,
  agent: TeamAgent,
  place: LoopPlace & { readonly indexInLoop: number },
  sent: SentPrompt,
): Promise<Step> {
  const { gate, progress, limits } = scope;
  if (progress.modelSteps >= limits.steps) {
    throw new RunFailure('step_limit', `The run took ${limits.steps} steps without reaching an answer.`);
  }
  progress.modelSteps += 1;
  return gate.step(async () => {
    const step = await askModel(scope, agent, place, sent);
    if (step.output.some(({ kind }) => kind === 'tool_call') || place.loop !== '') await scope.journal(step);
    return step;
  });
}

async function askModel(
  scope: RunScope,
  agent: TeamAgent,
  { loop, callerAgent, indexInLoop }: LoopPlace & { readonly indexInLoop: number },
  { prompt, replays }: SentPrompt,
): Promise<Step> {
  const { progress, signal } = scope;
  const { model } = agent;
  await scope.mayCall();
  // Checked after the last wait, so that no provider is called for a stopped run.
  signal.throwIfAborted();
  const startedAt = Date.now();
  progress.steps += 1;
  const step = progress.steps;
  const speaker = { agent: agent.name, callerAgent, ...(loop === '' ? {} : { loop }) };
  const handOffs = new Set(agent.flows.flatMap(({ kind, to }) => (kind === 'handoff' ? [handOffName(to)] : [])));
  const assembly = new ResponseAssembly(model.id, speaker, handOffs, scope);
  const used = (hasBegun: boolean) =>
    assembly.reportedUsage ?? {
      ...estimatedUsage(promptBytes(agent.instructions, prompt), assembly.outputBytes, hasBegun),
      ...assembly.reportedInput,
    };
  const withEarlier = (usage: Usage) => addUsage(assembly.earlierUsage, usage);
  let usage: Usage;
  try {
    const request = {
      runId: scope.runId,
      step,
      attempt: scope.attempt,
      instructions: agent.instructions,
      prompt,
      tools: modelTools(agent),
      ...(replays.length === 0 ? {} : { replays }),
      mayCall: () => scope.mayCall(),
      ...(agent.reasoning === undefined ? {} : { reasoning: agent.reasoning }),
      ...(agent.settings === undefined ? {} : { settings: agent.settings }),
    };
    usage = withEarlier((await model.call(request, assembly, signal)).usage ?? used(true));
  } catch (error) {
    const failed = withEarlier(used(assembly.hasBegun));
    progress.add(failed, model.id);
    // No step will contain it.
    progress.settle(failed, model.id);
    throw error;
  }
  progress.add(usage, model.id);
  assembly.finish(usage);
  return {
    step,
    kind: 'model',
    loop,
    indexInLoop,
    agent: agent.name,
    callerAgent,
    model: model.id,
    tool: null,
    callId: null,
    status: 'completed',
    usage,
    output: assembly.output,
    ...(assembly.returned === null ? {} : { replay: assembly.returned }),
    startedAt,
    completedAt: Date.now(),
  };
}

/** The same list in every step of an agent, because adapters write it once per list. */
const toolLists = new WeakMap<TeamAgent, readonly ModelTool[]>();

function modelTools(agent: TeamAgent): readonly ModelTool[] {
  if (agent.flows.length === 0) return agent.tools;
  let tools = toolLists.get(agent);
  if (tools === undefined) {
    tools = [...agent.tools, ...flowTools(agent.flows)];
    toolLists.set(agent, tools);
  }
  return tools;
}
