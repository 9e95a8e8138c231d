import { shownMessage } from '@runwire/models';
import type { Agencies } from '../../agencies/agencies.ts';
import { usesState } from '../../agencies/instructions.ts';
import type { AgencyLimits } from '../../agencies/loaded-agency.ts';
import { FinishedSteps } from '../../agent/finished-steps.ts';
import { runLoop } from '../../agent/loop.ts';
import { joinInstructions } from '../../agent/loop-setting.ts';
import type { ModelRequest, ModelTool, PromptItem } from '../../agent/ports.ts';
import { sentBytes } from '../../agent/tools-bytes.ts';
import type { AttachmentBlobs } from '../../attachments/attachment-blobs.ts';
import type { Scope } from '../../domain/account/scope.ts';
import { parseState, stateObject } from '../../domain/chat/chat-state.ts';
import { Refusal } from '../../domain/refusal.ts';
import { getBeginningAgent } from '../../domain/run/beginning-agent.ts';
import type { JournalledStep } from '../../domain/run/step.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import { stateUpTo } from '../../store/queries/chat-states.ts';
import { chatLength } from '../../store/queries/chats.ts';
import { first, type Store } from '../../store/store.ts';
import { aboutMember, getMember, NO_STATE } from '../about-run.ts';
import type { PromptSetting } from '../build-prompt.ts';
import { NO_CHAIN, readChain } from '../chain.ts';
import { findShownMessage } from '../check-input.ts';
import { clientTools } from '../client-tools.ts';
import type { FindModel } from '../deps.ts';
import { settingsAlone } from '../prepared-agency.ts';
import { readExchanges } from '../read-exchanges.ts';
import { readyPrompt } from '../ready-prompt.ts';
import { type AgencyDefinition, describeAgency, unknownDefinition } from './definition.ts';
import { isWalkEnd, PromptScope } from './prompt-scope.ts';
import { PromptTeam } from './prompt-team.ts';
import { findSought, type ReadRun, readLength, readRun, readStoredDefinition, type SoughtRow } from './read-step.ts';
import { STORED_IMAGES, StoredAttachments } from './stored-attachments.ts';

export interface StepPromptDeps {
  readonly store: Pick<Store, 'reads'>;
  readonly runReads: Pick<RunReads, 'row'>;
  readonly agencies: Agencies;
  readonly models: () => FindModel;
  /** The sandbox tools, as models get them. */
  readonly commandTools: readonly ModelTool[];
  readonly blobs: Pick<AttachmentBlobs, 'read'>;
  readonly prompt: Omit<PromptSetting, 'memory' | 'length'>;
  readonly limits: AgencyLimits;
}

/** What a model was sent in a step. */
export interface StepPrompt {
  readonly instructions: string | null;
  readonly messages: readonly unknown[];
  readonly tools: readonly ModelTool[];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly model: string | null;
  readonly agencyVersion: string | null;
  readonly exact: boolean;
}

/** Nothing is remembered: later messages may follow these turns. */
const NO_MEMORY: PromptSetting['memory'] = { get: () => undefined, set: () => {} };

/**
 * Rebuilds what a model was sent in a step, by the code that builds prompts for models: the run's loops are walked
 * along its journal up to the step. No model, no tool and no agency code is called.
 */
export async function readStepPrompt(
  deps: StepPromptDeps,
  scope: Scope,
  requested: string,
  step: number,
): Promise<StepPrompt> {
  const { reads } = deps.store;
  const { run_id: runId, chat_deleted_at: deletedAt } = await deps.runReads.row(scope, requested);
  if (deletedAt !== null) throw new Refusal('chat_not_found', 'The chat of this run was deleted.');
  const sought = await findSought(reads, runId, step);
  if (sought === null) throw new Refusal('step_not_found');
  const run = await readRun(reads, runId);
  const { loaded } = deps.agencies.find(run.agency) ?? { loaded: null };
  const isLoaded = loaded !== null && loaded.version === run.agencyVersion;
  const definition = isLoaded
    ? describeAgency(loaded, deps.commandTools)
    : ((await readStoredDefinition(reads, run)) ?? toUnknown(run, sought, deps.limits));
  const walked = await walk(deps, run, sought, definition);
  const { model, promptBytes } = sought.row;
  const shown = { model, agencyVersion: run.agencyVersion };
  if (walked === null) return { instructions: null, messages: [], tools: [], settings: {}, ...shown, exact: false };
  const { agent, request, team } = walked;
  const { instructions, prompt, tools } = request;
  return {
    instructions: team.isWritten(agent) ? null : instructions,
    messages: prompt.map(toMessage),
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    settings: toSettings(request),
    ...shown,
    exact: isLoaded && team.isWhole(agent) && promptBytes === sentBytes(instructions, prompt, tools),
  };
}

function toUnknown({ agent, extras }: ReadRun, { row, journal }: SoughtRow, limits: AgencyLimits): AgencyDefinition {
  return unknownDefinition(
    [
      ...new Set([
        agent,
        ...(extras.begins === undefined ? [] : [extras.begins]),
        row.agent,
        ...journal.map((one) => one.agent),
      ]),
    ],
    limits,
  );
}

const findRoot = (run: ReadRun, { agents }: AgencyDefinition): string =>
  getBeginningAgent(run, { has: (name) => agents.some((one) => one.name === name) });

/** The root agent of a rerun can have another model, and other instructions from the first new step on. It can be alone. */
function withReplaced(
  agencies: StepPromptDeps['agencies'],
  definition: AgencyDefinition,
  run: ReadRun,
  { isOwn }: SoughtRow,
): AgencyDefinition {
  const { extras, integrationModel } = run;
  const agent = findRoot(run, definition);
  const { model = null, instructions = null, eval: ofEval } = extras.rerun ?? {};
  const isAlone = ofEval?.alone === true;
  if (model === null && instructions === null && !isAlone) return definition;
  const agents = definition.agents.map((one) => {
    if (one.name !== agent) return one;
    const texts = { shared: '', own: instructions, contextToModel: false, files: '' };
    const replaced = {
      ...one,
      model: model ?? one.model,
      instructions: instructions !== null && isOwn ? texts : one.instructions,
    };
    if (!isAlone) return replaced;
    const nothing = { tools: [], flows: [], fallback: [], webSearch: false, reasoning: null, output: null };
    return {
      ...replaced,
      ...nothing,
      settings: settingsAlone(agencies.getModel(definition, replaced, integrationModel)),
    };
  });
  return { ...definition, agents };
}

/** Resolves to null if the journal does not lead to the step, because the definition is not known. */
async function walk(deps: StepPromptDeps, run: ReadRun, sought: SoughtRow, known: AgencyDefinition) {
  const definition = withReplaced(deps.agencies, known, run, sought);
  const { reads } = deps.store;
  const { runId, chatKey, position, continues } = run;
  const chain = continues === null ? NO_CHAIN : await readChain(reads, chatKey, { runId: continues, settlements: [] });
  const { extras } = run;
  const usesMember = definition.agents.some(({ instructions: { own, shared } }) => /member/.test(`${own}${shared}`));
  const team = new PromptTeam(definition, {
    about: aboutMember(
      { day: run.day, userContext: undefined },
      usesMember ? await getMember(reads, run) : null,
      await readStateBefore(deps, run, definition),
    ),
    root: findRoot(run, definition),
    clientTools: clientTools(run.clientTools),
    outputSchema: extras.outputSchema,
    agencies: deps.agencies,
    ofIntegration: run.integrationModel,
    models: deps.models(),
    otherwise: deps.prompt.windowTokens,
    exchanges: (sender, recipient) =>
      readExchanges(reads, { chatKey, runId, sender, recipient, before: position }, chain.runIds),
  });
  const entry = team.rootAgent();
  const addedInstructions = extras.instructions ?? '';
  const shownTo = {
    instructions: joinInstructions(entry, addedInstructions),
    windowTokens: entry.reachedWindowTokens,
    tools: entry.modelTools,
    usesSummaries: definition.leavesOut !== true && extras.rerun?.eval?.alone !== true,
  };
  const attachments = new StoredAttachments(deps.blobs);
  const chat = await first(reads.all(chatLength, { chatKey }));
  const plan = (textBytes: number) => {
    const length = {
      num_messages: position,
      text_bytes: textBytes,
      summary_run_id: chat?.summary_run_id ?? null,
    };
    const prompt = { ...deps.prompt, memory: NO_MEMORY, length };
    const promptDeps = { store: deps.store, prompt, retryMs: 0 };
    const checked = { ...run, shown: findShownMessage(sought.journal) };
    return readyPrompt(promptDeps, checked, chain, shownTo, { attachments, images: STORED_IMAGES }, WITHOUT_RETRIES);
  };
  let ready = await plan(0);
  // Only then all texts are added up: they decide which turns are left out.
  if (ready.turnsLeftOut > 0) ready = await plan(await readLength(reads, run));
  const steps = toPath(sought, [...chain.steps, ...sought.journal]);
  const finished = new FinishedSteps(steps(sought.journal), true, steps(chain.steps));
  const continuation =
    continues === null ? null : { keyRunId: runId, settlements: new Map(), messages: ready.laterMessages };
  const scope = new PromptScope({
    runId,
    team,
    finished,
    continuation,
    limits: definition.limits,
    sought: sought.row,
  });
  scope.progress.follow([...chain.steps, ...sought.journal], ready.prompt);
  try {
    const { prompt, earlierItems } = ready;
    const root = { loop: '', callerAgent: null, depth: 0, agent: entry, addedInstructions, resultCheck: null };
    await runLoop(scope, { ...root, prompt, earlierItems, trace: null });
  } catch (error) {
    if (!isWalkEnd(error)) throw error;
  }
  return scope.found === null ? null : { ...scope.found, team };
}

/** Reads the chat's state at the run's start, if the instructions use it. */
async function readStateBefore(
  { store }: StepPromptDeps,
  { chatKey, position }: ReadRun,
  { agents }: AgencyDefinition,
) {
  if (!agents.some(({ instructions: { own, shared } }) => usesState(`${own}${shared}`))) return NO_STATE;
  const row = await first(store.reads.all(stateUpTo, { chatKey, position: position - 1 }));
  return row === undefined ? NO_STATE : stateObject(parseState(row.state_json));
}

/** The caller does not wait for a store that is unavailable. */
const WITHOUT_RETRIES = {
  signal: new AbortController().signal,
  reason: { kind: 'shut_down', betweenSteps: false },
} as const;

/**
 * Returns the steps that lead to the sought one: without that step, the later ones in its loop, and the outcomes that the
 * loop leads to.
 */
function toPath({ row }: SoughtRow, all: readonly JournalledStep[]) {
  const loops = new Map<string, string>();
  for (const { kind, loop, output } of all) {
    if (kind !== 'model') continue;
    for (const item of output) if (item.kind === 'tool_call') loops.set(item.callId, loop);
  }
  const open = new Set<string>();
  for (let { loop } = row; loop !== '' && !open.has(loop); loop = loops.get(loop) ?? '') open.add(loop);
  const isBefore = (step: JournalledStep) =>
    step.kind === 'model'
      ? step.loop !== row.loop || (step.indexInLoop > 0 && step.indexInLoop < row.indexInLoop)
      : step.callId === null || !open.has(step.callId);
  return (steps: readonly JournalledStep[]) => steps.filter(isBefore);
}

/** A prompt item as in `new_messages`. */
function toMessage(item: PromptItem): unknown {
  switch (item.kind) {
    case 'user': {
      const attachments = (item.attachments ?? []).map((one) => {
        const { kind, name, mediaType } = one;
        return { kind, name, mediaType, ...(one.kind === 'text' && { text: one.text }) };
      });
      const content = shownMessage(item.text, item.sandboxFiles);
      return { type: 'message', role: 'user', content, ...(attachments.length > 0 && { attachments }) };
    }
    case 'assistant':
      return {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: item.text, annotations: [] }],
      };
    case 'tool_call':
      return { type: 'function_call', call_id: item.callId, name: item.name, arguments: item.arguments };
    case 'tool_output': {
      const attachments = item.images?.map(({ kind, mediaType, sizeBytes: size }) => ({ kind, mediaType, size }));
      const shown = { type: 'function_call_output', call_id: item.callId, output: item.output };
      return { ...shown, ...(attachments !== undefined && { attachments }) };
    }
  }
}

const toSettings = ({ settings, reasoning, webSearch, output }: ModelRequest) => ({
  ...settings,
  ...(reasoning !== undefined && { reasoning }),
  ...(webSearch === true && { webSearch }),
  ...(output !== undefined && { output }),
});
