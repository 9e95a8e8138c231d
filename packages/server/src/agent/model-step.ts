import type { ModelSettings } from '@runwire/agency';
import { ModelFailure, promptBytes, type Tries } from '@runwire/models';
import { addUsage, NO_USAGE, type Usage } from '../domain/model/usage.ts';
import type { GuardrailRecord } from '../domain/run/guardrail-record.ts';
import { RunFailure } from '../domain/run/run-failure.ts';
import type { Step } from '../domain/run/step.ts';
import type { ChatTrace } from '../telemetry/run-trace.ts';
import { withCallChecks } from './call-checks.ts';
import type { AgentConditions } from './conditions.ts';
import { GuardrailBlocked } from './guardrails.ts';
import type { ModelStepInput } from './model-step-input.ts';
import { checkOutput } from './output-check.ts';
import type { Model, ModelRequest } from './ports.ts';
import { estimatedUsage } from './progress.ts';
import { withQuestions } from './questions.ts';
import { ResponseAssembly } from './response-assembly.ts';
import type { RunScope } from './run-scope.ts';
import type { TeamAgent } from './team.ts';
import type { CheckedText, TextCheck } from './text-check.ts';
import { toolsBytes } from './tools-bytes.ts';
import { visibleAgent } from './visible-agent.ts';

/** Makes a step of a model. It is durable when it returns, except for the last one of the run. */
export async function modelStep(scope: RunScope, input: ModelStepInput): Promise<Step> {
  const { gate, progress, limits } = scope;
  if (progress.modelSteps >= limits.steps) {
    throw new RunFailure('step_limit', `The run took ${limits.steps} steps without reaching an answer.`);
  }
  progress.modelSteps += 1;
  const stopped = gate.begin();
  if (stopped !== null) await stopped;
  try {
    let step = await askModels(scope, input);
    const hasCalls = step.output.some(({ kind }) => kind === 'tool_call');
    if (hasCalls) step = await decideCalls(scope, { ...input, agent: visibleAgent(input.agent, step.hidden) }, step);
    const isLast = input.loop === '' && step.tried === undefined && !hasCalls;
    if (!isLast) await scope.journal(step);
    return step;
  } finally {
    gate.end();
  }
}

/** Decides which calls of the step are made, with which arguments, and which ask. */
async function decideCalls(scope: RunScope, { agent, prompt }: ModelStepInput, step: Step): Promise<Step> {
  try {
    return await withQuestions(await withCallChecks(step, agent), agent, prompt, scope);
  } catch (error) {
    const { output: _, status: __, completedAt: ___, usage, model, ...call } = step;
    if (usage !== null && model !== null) scope.progress.noteFailed(step.loop, usage, model);
    scope.unfinished.cut({ ...call, kind: 'model', usage, model }, error);
    throw error;
  }
}

/** Asks which tools and flows the model sees. All models that are asked for the step see the same. */
async function askConditions(
  scope: RunScope,
  input: ModelStepInput,
  conditions: AgentConditions,
  step: number,
): Promise<ModelStepInput> {
  const { agent, loop, callerAgent, indexInLoop } = input;
  const startedAt = Date.now();
  try {
    const hidden = await conditions.ask(startedAt);
    const begun = { ...input, begunAt: startedAt };
    return hidden.length === 0 ? begun : { ...begun, agent: visibleAgent(agent, hidden), hidden };
  } catch (error) {
    const call = { step, kind: 'model', loop, indexInLoop, agent: agent.name, callerAgent, model: null } as const;
    scope.unfinished.cut({ ...call, tool: null, callId: null, usage: null, startedAt }, error);
    throw error;
  }
}

/** Asks the model that answered last, or the agent's first one; then its fallbacks, as long as there was no output. */
async function askModels(scope: RunScope, given: ModelStepInput): Promise<Step> {
  scope.progress.steps += 1;
  const { steps: step } = scope.progress;
  const { conditions } = given.agent;
  const input = conditions === null ? given : await askConditions(scope, given, conditions, step);
  const { agent, lastModel, hidden } = input;
  const { fallback } = agent;
  const tries: Tries = { count: 0 };
  const startedAt = Date.now();
  let failedUsage = NO_USAGE;
  // Index -1 is the agent's first model.
  for (let index = fallback.findIndex(({ id }) => id === lastModel && id !== agent.model.id); ; index += 1) {
    const model = fallback[index] ?? agent.model;
    const answer = await askModel(scope, input, model, step, tries);
    if (!('failure' in answer)) return answer;
    const { failure, mayFallBack, firstTokenMs, guardrails } = answer;
    failedUsage = addUsage(failedUsage, answer.usage);
    if (mayFallBack && index + 1 < fallback.length) continue;
    const { loop, callerAgent, indexInLoop } = input;
    const usage = failedUsage;
    const { promptBytes } = answer;
    const call = { step, kind: 'model', loop, indexInLoop, agent: agent.name, callerAgent, model: model.id } as const;
    const more = {
      startedAt,
      promptBytes,
      ...counted(tries),
      ...(firstTokenMs !== null && { firstTokenMs }),
      ...(guardrails !== undefined && { guardrails }),
      ...(hidden !== undefined && { hidden }),
    };
    scope.unfinished.cut({ ...call, tool: null, callId: null, usage, ...more }, failure);
    throw failure;
  }
}

const counted = ({ count }: Tries) => (count > 1 ? { tries: count } : {});

interface CallFailure {
  readonly failure: unknown;
  /** True if another model may be asked: this one did not answer, and has produced no output. */
  readonly mayFallBack: boolean;
  readonly usage: Usage;
  /** See `StepOutcome.promptBytes`. */
  readonly promptBytes: number;
  readonly firstTokenMs: number | null;
  /** Present if a guardrail blocked the answer. */
  readonly guardrails?: GuardrailRecord;
}

async function askModel(
  scope: RunScope,
  input: ModelStepInput,
  model: Model,
  step: number,
  tries: Tries,
): Promise<Step | CallFailure> {
  const { progress, signal } = scope;
  const { agent, loop, callerAgent, indexInLoop, textCheck, hidden } = input;
  const until = scope.mayCall();
  if (until !== null) await until;
  // Checked after the last wait, so that no provider is called for a stopped run.
  signal.throwIfAborted();
  const calledAtMs = Date.now();
  const startedAt = input.begunAt ?? calledAtMs;
  const holdsOnlyText = agent.output === null;
  const tooLong = holdsOnlyText && textCheck === null ? null : new AbortController();
  const inputBytes = promptBytes(input.instructions, input.prompt);
  const trace = input.trace?.chat(agent.name, model.id, model.address, () => shownPrompt(input)) ?? null;
  const assembly = new ResponseAssembly(model.id, toSpeaker(input), scope, {
    ...{ agent, tooLong, holdsOnlyText, inputBytes, trace },
  });
  const getOutput = () => assembly.output;
  /** The step may have begun before the call. */
  const getFirstTokenMs = () =>
    assembly.firstTokenMs === null ? null : calledAtMs - startedAt + assembly.firstTokenMs;
  let usage: Usage;
  let isCut = false;
  const calledAt = performance.now();
  tries.count += 1;
  try {
    const callSignal = tooLong === null ? signal : AbortSignal.any([signal, tooLong.signal]);
    const result = await model.call(modelRequest(scope, input, model, { step, tries, trace }), assembly, callSignal);
    if (holdsOnlyText && assembly.isTooLong) throw tooLongToCheck(agent);
    usage = result.usage === null ? usedBy(assembly, inputBytes, true) : addUsage(assembly.earlierUsage, result.usage);
    isCut = assembly.isTooLong;
    progress.watcher?.onCallEnd(performance.now() - calledAt, model.id, null);
    trace?.end({
      usage,
      responseId: result.responseId,
      finishReason: result.finishReason,
      errorType: null,
      output: getOutput,
    });
  } catch (error) {
    usage = usedBy(assembly, inputBytes, assembly.hasBegun);
    const errorType = toErrorType(error, signal);
    progress.watcher?.onCallEnd(performance.now() - calledAt, model.id, errorType);
    trace?.end({ usage, errorType, output: getOutput });
    // A structured answer that is cut short counts as a wrong one.
    isCut = agent.output !== null && !signal.aborted && (assembly.isTooLong || isCutShort(error));
    if (!isCut) {
      // A failure in the root loop ends the run, and with it all items.
      if (loop !== '' && !signal.aborted) assembly.abandon();
      progress.addFailed(loop, usage, model.id);
      const failure = assembly.isTooLong && !signal.aborted ? tooLongToCheck(agent) : error;
      const isUnavailable = failure instanceof ModelFailure && failure.problem === 'unavailable';
      const mayFallBack = isUnavailable && !assembly.hasOutput && !signal.aborted;
      const firstTokenMs = getFirstTokenMs();
      return { failure, mayFallBack, usage, promptBytes: toSentBytes(input, inputBytes), firstTokenMs };
    }
  }
  progress.add(usage, model.id);
  const tried = agent.output === null ? null : await checkOutput(agent, assembly, isCut, signal);
  let checked: CheckedText | null = null;
  try {
    if (textCheck !== null && tried === null) checked = await checkText(textCheck, agent, assembly);
  } catch (error) {
    if (loop !== '' && !signal.aborted) assembly.abandon();
    progress.noteFailed(loop, usage, model.id);
    const firstTokenMs = getFirstTokenMs();
    const guardrails = error instanceof GuardrailBlocked ? { guardrails: { decisions: error.decisions } } : {};
    const sentBytes = toSentBytes(input, inputBytes);
    return { failure: error, mayFallBack: false, usage, promptBytes: sentBytes, firstTokenMs, ...guardrails };
  }
  if (checked !== null) assembly.heldText = checked.text;
  assembly.finish(usage, tried === null);
  const { output, returned } = assembly;
  const firstTokenMs = getFirstTokenMs();
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
    status: tried === null ? 'completed' : 'failed',
    usage,
    output,
    // It contains what the model wrote.
    ...(returned !== null && checked?.isChanged !== true && { replay: returned }),
    ...(checked !== null && { guardrails: checked.record }),
    ...(hidden !== undefined && { hidden }),
    ...(tried !== null && { tried }),
    ...(firstTokenMs !== null && { firstTokenMs }),
    promptBytes: toSentBytes(input, inputBytes),
    ...counted(tries),
    startedAt,
    completedAt: Date.now(),
  };
}

const tooLongToCheck = ({ name }: TeamAgent) =>
  new RunFailure(
    'model_error',
    `The answer of \`${name}\` is longer than 4 MiB, which is the most that guardrails check.`,
  );

/** Returns null if the response has no text that is checked. */
async function checkText(
  { everyText, check }: TextCheck,
  { output }: TeamAgent,
  { heldText, hasCalls }: ResponseAssembly,
): Promise<CheckedText | null> {
  // A structured agent's text beside calls is not sent.
  if (hasCalls && (!everyText || output !== null)) return null;
  return everyText && heldText === '' ? null : check(heldText);
}

/** What `sentBytes` returns. */
const toSentBytes = ({ agent }: ModelStepInput, inputBytes: number) => inputBytes + toolsBytes(agent.modelTools);

type RequestScope = Pick<RunScope, 'runId' | 'attempt' | 'mayCall' | 'propagatesTrace'>;

/** What a call has besides what it sends. */
interface CallParts {
  readonly step: number;
  readonly tries: Tries;
  readonly trace: ChatTrace | null;
}

export function modelRequest(
  scope: RequestScope,
  input: ModelStepInput,
  model: Pick<Model, 'searchesWeb'>,
  { step, tries, trace }: CallParts,
): ModelRequest {
  const { agent, instructions, prompt, earlierItems, replays, hasCalled } = input;
  return {
    runId: scope.runId,
    step,
    attempt: scope.attempt,
    instructions,
    prompt,
    earlierItems,
    tools: agent.modelTools,
    webSearch: agent.webSearch && model.searchesWeb === true,
    replays,
    mayCall: scope.mayCall,
    tries,
    reasoning: agent.reasoning,
    settings: agent.settings && getSettings(agent.settings, hasCalled),
    output: agent.output?.jsonSchema,
    traceparent: scope.propagatesTrace ? trace?.traceparent : undefined,
  };
}

/** For traces with content. The instructions are left out, because they can contain `user_context`, and so are attachments. */
const shownPrompt = ({ prompt }: ModelStepInput) =>
  prompt.map((item) => (item.kind === 'user' ? { kind: item.kind, text: item.text } : item));

/** The usage of a call that was cut short, or whose provider reported none. */
function usedBy(assembly: ResponseAssembly, inputBytes: number, hasBegun: boolean): Usage {
  const whole = assembly.reportedUsage ?? {
    ...estimatedUsage(inputBytes, assembly.outputBytes, hasBegun),
    ...assembly.reportedInput,
  };
  return addUsage(assembly.earlierUsage, whole);
}

/** The code of a failed call, as traces and metrics report it. */
export function toErrorType(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'cancelled';
  return error instanceof ModelFailure ? error.code : 'internal_error';
}

const isCutShort = (error: unknown) => error instanceof ModelFailure && error.problem === 'cut_short';

const FREE_CHOICES: ReadonlySet<string | undefined> = new Set([undefined, 'auto', 'none']);

/** By the agent's settings. One object for all runs, because adapters write it as JSON once. */
const afterFirstCall = new WeakMap<ModelSettings, ModelSettings>();

/** Calls are required only until the agent has made one. */
function getSettings(settings: ModelSettings, hasCalled: boolean): ModelSettings {
  if (!hasCalled || FREE_CHOICES.has(settings.toolChoice)) return settings;
  let free = afterFirstCall.get(settings);
  if (free === undefined) {
    free = { ...settings, toolChoice: 'auto' };
    afterFirstCall.set(settings, free);
  }
  return free;
}

const toSpeaker = ({ agent, callerAgent, loop }: ModelStepInput) => ({
  agent: agent.name,
  callerAgent,
  ...(loop === '' ? {} : { loop }),
});
