import type { ModelObject } from '@runwire/agency';
import type { AgencyFile } from '@runwire/contract/schemas';
import type { McpServer } from '../agent/mcp-port.ts';
import type { Guardrail, Model } from '../agent/ports.ts';
import { handOffName } from '../domain/run/hand-off-name.ts';
import type { AgencyDraft, AgentDraft, ModelObjects } from './agency-draft.ts';
import type { AgencyFolder } from './agency-folder.ts';
import { agentTools, builtInName, type ToolSources } from './agent-tools.ts';
import type { ReadVariable } from './expand-variables.ts';
import { type Faults, inWords, type Location, type Path } from './fault.ts';
import { loadBelow } from './files-below.ts';
import { expandFlows, unknownAgent } from './flows.ts';
import { trimmed, usesMember, usesState, writeFixedInstructions, writeInstructions } from './instructions.ts';
import type { ConditionParts } from './load-condition.ts';
import { findGuardrails, type GuardrailParts } from './load-guardrail.ts';
import { getServers, loadServers } from './load-mcp.ts';
import { loadOutput } from './load-output.ts';
import type {
  AgencyLimits,
  BuiltInTool,
  LoadedAgency,
  LoadedAgent,
  LoadedFlow,
  LongChats,
  Skill,
} from './loaded-agency.ts';
import { readText } from './read-text.ts';
import { filesText, getSkills, loadSkills } from './skills.ts';

/** What agencies need to know of the models. */
export interface KnownModels {
  /** Returns a sentence about what to do if the model cannot be used, or null if it can. */
  problem(model: string): string | null;
  /** The model of agencies that name none. */
  readonly defaultId: string;
  /** True if the model's provider has a tool that searches the web. */
  searchesWeb(model: string): boolean;
  /** Makes a model of an object of the AI SDK. Returns null if the server does not know its specification. */
  fromObject(name: string, object: ModelObject): Model | null;
}

/** What the installation has, for an agency's check. */
export interface AgencySetting {
  readonly models: KnownModels;
  /** The server's limits. */
  readonly limits: AgencyLimits;
  /** Reads a variable that `mcp` names. */
  readonly variable: ReadVariable;
  /** True if this installation can run commands. */
  readonly hasSandbox: boolean;
}

interface ServerLimits extends Pick<AgencyLimits, 'handOffs' | 'toolOutputCharacters'> {
  readonly stepsPerRun: number;
  readonly delegationDepth: number;
}

/** The limits of the server that an agency can lower. */
export const serverLimits = (limits: ServerLimits): AgencyLimits => ({
  steps: limits.stepsPerRun,
  depth: limits.delegationDepth,
  handOffs: limits.handOffs,
  toolOutputCharacters: limits.toolOutputCharacters,
});

export interface AgencyParts extends Omit<ToolSources, 'hasSandbox'> {
  readonly id: string;
  /** The guardrails of `toolFiles`. */
  readonly fileGuardrails: GuardrailParts;
  /** The functions that `toolFiles` export. */
  readonly fileConditions: ConditionParts;
  /** Null if the agency is not in a folder. */
  readonly folder: AgencyFolder | null;
}

/** Checks everything besides the shape, and loads what the agency names. Throws `AgencyBroken`. */
export async function loadAgency(
  draft: AgencyDraft,
  parts: AgencyParts,
  setting: AgencySetting,
  faults: Faults,
): Promise<Omit<LoadedAgency, 'version' | 'loadedAt' | 'code'>> {
  const { value, location } = draft;
  const names = checkNames(draft, faults);
  const conditions = new Map([...parts.fileConditions, ...draft.conditions]);
  const flows = expandFlows(value.flows ?? [], { agents: names, conditions }, location, faults);
  checkDescriptions(draft, flows, faults);
  const { entryPoints, defaultAgent } = checkEntryPoints(draft, names, faults);
  const shape = { location, path: [], models: draft.models };
  const agencyModels = loadModels(value, shape, setting, faults);
  const longChats = loadLongChats(value, location, agencyModels, faults);
  const shared = await readText(
    parts.folder,
    value.sharedInstructions ?? '',
    { location, path: ['sharedInstructions'] },
    faults,
  );
  const skills = await loadSkills(parts.folder, faults);
  const hasFiles = ((await parts.folder?.list('files')) ?? []).length > 0;
  // The instructions say that there are files, so they are part of the version.
  if (hasFiles) parts.folder?.include('files', 'not empty');
  const mcp = loadServers(draft, parts.folder, setting.variable, faults);
  const knownGuardrails = new Map([...parts.fileGuardrails, ...draft.guardrails]);
  const agencyList = { names: value.guardrails ?? [], location, path: ['guardrails'] };
  const guardrails = findGuardrails(agencyList, knownGuardrails, [], faults);
  const agents = new Map<string, LoadedAgent>();
  for (const agent of draft.agents) {
    const { name } = agent.value;
    const { location, path, code } = agent;
    const own = loadModels(agent.value, { location, path, models: code.models }, setting, faults);
    const ownModels = new Map([...agencyModels, ...own]);
    if (value.model === undefined && agent.value.model === undefined) checkDefaultModel(agent, setting, faults);
    checkWebSearch(agent, { ...value, ...agent.value }, ownModels, setting, faults);
    const loaded = await loadAgent(
      draft,
      agent,
      {
        ...parts,
        hasSandbox: setting.hasSandbox,
        shared,
        ownModels,
        mcp,
        skills,
        hasFiles,
        guardrails,
        knownGuardrails,
        flows: flows.get(name) ?? [],
      },
      faults,
    );
    agents.set(name, loaded);
  }
  faults.throwIfAny();
  const { id } = parts;
  const limits = smaller(value.limits ?? {}, setting.limits);
  const { source } = draft;
  const model = value.model ?? null;
  const folder = parts.folder?.path ?? null;
  const { name, propagateTrace = false } = value;
  const lastingAgents = new Set(
    [...flows.values()].flat().flatMap(({ to, lasts }) => (lasts === undefined ? [] : [to])),
  );
  const hideable = [...agents.values()].flatMap(({ tools, flows: own }) => [...tools, ...own]);
  const isConditional = hideable.some(({ isEnabled }) => isEnabled !== undefined);
  const more = { guardrails, propagateTrace, longChats, entryPoints, defaultAgent, lastingAgents, isConditional };
  return { id, name, source, model, agents, mcp, folder, limits, ...more };
}

interface AgentParts extends AgencyParts, ToolSources {
  readonly shared: string;
  readonly ownModels: ReadonlyMap<string, Model>;
  readonly mcp: readonly McpServer[];
  readonly skills: readonly Skill[];
  /** True if the agency has files in `files`. */
  readonly hasFiles: boolean;
  /** The agency's. */
  readonly guardrails: readonly Guardrail[];
  readonly knownGuardrails: GuardrailParts;
  readonly flows: readonly LoadedFlow[];
}

async function loadAgent(
  agency: AgencyDraft,
  agent: AgentDraft,
  parts: AgentParts,
  faults: Faults,
): Promise<LoadedAgent> {
  const { value, location, path, code } = agent;
  const { shared, flows } = parts;
  const own = code.instructions ?? (await ownInstructions(agent, parts, faults));
  const { tools, builtIn } = agentTools(agent, parts, flows, faults);
  const mcp = getServers(agent, parts.mcp, faults);
  checkApprovalLists(agent, [...tools.map(({ name: tool }) => tool), ...builtIn.filter(isOurs)], mcp, faults);
  const skills = getSkills(agent, parts.skills, faults);
  const canRead = builtIn.includes('read_file') || builtIn.includes('run_command');
  if (!canRead && value.skills !== undefined && value.skills.length > 0) {
    const sentence = '`skills` needs the tool `read_file` or `run_command`; add one of them, or remove the skills.';
    faults.add(location, [...path, 'skills'], sentence, 'key');
  }
  const files = canRead ? filesText(skills, parts.hasFiles) : '';
  const below = loadBelow(agent, faults);
  const guardrailList = { names: value.guardrails ?? [], location, path: [...path, 'guardrails'] };
  const ownGuardrails = findGuardrails(guardrailList, parts.knownGuardrails, parts.guardrails, faults);
  const guardrails = [...parts.guardrails, ...ownGuardrails];
  const instructionParts = { shared, own, contextToModel: agency.value.contextToModel ?? false, files };
  return {
    name: value.name,
    description: value.description ?? '',
    instructions: writeInstructions(instructionParts),
    fixedInstructions: writeFixedInstructions(instructionParts),
    instructionTexts: { ...instructionParts, own: typeof own === 'string' ? own : null },
    usesMember: typeof own === 'function' || usesMember(own) || usesMember(shared) || below?.usesMember === true,
    usesState: toStateUse(shared, own),
    model: value.model ?? null,
    fallback: value.fallback ?? agency.value.fallback ?? [],
    ownModels: parts.ownModels,
    settings: value.settings ?? {},
    reasoning: value.reasoning,
    tools,
    builtIn,
    approval: new Set(value.approval),
    editable: new Set(value.editable),
    remember: new Set(value.remember),
    mcp,
    filesBelow: below?.folder ?? null,
    skills,
    output: await loadOutput(parts.folder, agent, { location, path: [...path, 'output'] }, faults),
    guardrails: guardrails.length === 0 ? null : guardrails,
    starters: value.starters ?? [],
    flows,
  };
}

function toStateUse(shared: string, own: AgentDraft['code']['instructions'] | string): LoadedAgent['usesState'] {
  if (usesState(shared) || (typeof own === 'string' && usesState(own))) return 'text';
  return typeof own === 'function' ? 'function' : null;
}

/** The provider of the model runs its own search. */
const isOurs = (tool: BuiltInTool) => tool !== 'web_search';

/** The names of tools of MCP servers are known only when a server is connected, so any name may be one of them. */
function checkApprovalLists(
  { value, location, path }: AgentDraft,
  known: readonly string[],
  servers: readonly McpServer[],
  faults: Faults,
): void {
  if (servers.length > 0) return;
  for (const field of ['approval', 'editable', 'remember'] as const) {
    for (const [index, name] of (value[field] ?? []).entries()) {
      if (known.includes(name)) continue;
      faults.add(location, [...path, field, index], `The agent has no tool \`${name}\`; write ${inWords(known)}.`);
    }
  }
}

async function ownInstructions({ value, location, path }: AgentDraft, { folder }: AgencyParts, faults: Faults) {
  const at = { location, path: [...path, 'instructions'] };
  const text = await readText(folder, value.instructions, at, faults);
  if (text === '' && trimmed(value.instructions) === '')
    faults.add(location, at.path, '`instructions` is empty; write a text.');
  return text;
}

/** The agents' names, which must differ by more than case. */
function checkNames({ agents }: AgencyDraft, faults: Faults): readonly string[] {
  const byName = new Map<string, string>();
  const byTransfer = new Map<string, string>();
  for (const { value, location, path } of agents) {
    const { name } = value;
    const at = [...path, 'name'];
    const same = byName.get(name.toLowerCase());
    const tool = handOffName(name);
    const sameTool = byTransfer.get(tool);
    if (name !== name.trim()) faults.add(location, at, `\`${name}\` begins or ends with a space; remove it.`);
    else if (name === '*') faults.add(location, at, '`*` means every agent in `flows`; choose another name.');
    else if (same === name) faults.add(location, at, `Two agents are called \`${name}\`; rename one of them.`);
    else if (same !== undefined) {
      faults.add(location, at, `The names \`${same}\` and \`${name}\` differ only in case; rename one of the agents.`);
    } else if (sameTool !== undefined) {
      faults.add(
        location,
        at,
        `Hand-offs to \`${sameTool}\` and \`${name}\` would both be the tool \`${tool}\`; rename one of the agents.`,
      );
    }
    byName.set(name.toLowerCase(), name);
    byTransfer.set(tool, name);
  }
  return agents.map(({ value }) => value.name);
}

function checkDescriptions(
  { agents }: AgencyDraft,
  flows: ReadonlyMap<string, readonly LoadedFlow[]>,
  faults: Faults,
): void {
  const targets = new Set([...flows.values()].flat().map(({ to }) => to));
  for (const { value, location, path } of agents) {
    if (!targets.has(value.name) || (value.description ?? '').trim() !== '') continue;
    const sentence = `A flow leads to \`${value.name}\`; add a \`description\` that tells the other agents what it does.`;
    faults.add(location, value.description === undefined ? [...path, 'name'] : [...path, 'description'], sentence);
  }
}

function checkEntryPoints({ value, location }: AgencyDraft, names: readonly string[], faults: Faults) {
  const { entryPoints = names, defaultAgent = entryPoints[0] ?? '' } = value;
  for (const [index, name] of (value.entryPoints ?? []).entries()) {
    if (!names.includes(name)) faults.add(location, ['entryPoints', index], unknownAgent(name, names));
  }
  if (value.defaultAgent !== undefined && !names.includes(defaultAgent)) {
    faults.add(location, ['defaultAgent'], unknownAgent(defaultAgent, names));
  } else if (!entryPoints.includes(defaultAgent) && value.defaultAgent !== undefined) {
    faults.add(location, ['defaultAgent'], `\`${defaultAgent}\` is not an entry point; add it to \`entryPoints\`.`);
  }
  return { entryPoints, defaultAgent };
}

interface NamesModels {
  readonly model?: string;
  readonly fallback?: readonly string[];
  readonly summaryModel?: string;
}

interface ModelsLocation {
  readonly location: Location;
  readonly path: Path;
  readonly models: ModelObjects;
}

/** Checks the models that a part of the agency names, and makes models of objects of the AI SDK. */
function loadModels(
  { model, fallback = [], summaryModel }: NamesModels,
  { location, path, models: objects }: ModelsLocation,
  { models }: AgencySetting,
  faults: Faults,
): ReadonlyMap<string, Model> {
  const own = new Map<string, Model>();
  const check = (id: string, at: Path) => {
    const object = objects.get(id);
    const made = object === undefined ? null : models.fromObject(id, object);
    if (made !== null) own.set(id, made);
    const problem = object === undefined ? models.problem(id) : made === null ? unknownSpecification(object) : null;
    if (problem !== null) faults.add(location, [...path, ...at], problem);
  };
  if (model !== undefined) check(model, ['model']);
  for (const [index, other] of fallback.entries()) check(other, ['fallback', index]);
  if (summaryModel !== undefined) check(summaryModel, ['summaryModel']);
  return own;
}

function loadLongChats(
  { longChats = 'summarize', summaryModel }: AgencyFile,
  location: Location,
  own: ReadonlyMap<string, Model>,
  faults: Faults,
): LongChats {
  if (longChats === 'leave_out' && summaryModel !== undefined) {
    const sentence = '`summaryModel` has no effect with `longChats: leave_out`; remove one of them.';
    faults.add(location, ['summaryModel'], sentence, 'key');
  }
  const isSummarized = longChats === 'summarize';
  if (!isSummarized || summaryModel === undefined) return { isSummarized, modelId: null, ownModel: null };
  return { isSummarized, modelId: summaryModel, ownModel: own.get(summaryModel) ?? null };
}

function unknownSpecification({ specificationVersion }: ModelObject): string {
  return `This model has the specification \`${specificationVersion}\`; use a version of its package that has \`v3\` or \`v4\`.`;
}

/** Reports models of the files whose providers cannot search. Other models are asked without the tool. */
function checkWebSearch(
  { value, location, path }: AgentDraft,
  { model, fallback = [] }: NamesModels,
  ownModels: ReadonlyMap<string, Model>,
  { models }: AgencySetting,
  faults: Faults,
): void {
  const index = (value.tools ?? []).findIndex((tool) => builtInName(tool) === 'web_search');
  if (index === -1) return;
  const searches = (id: string) => ownModels.get(id)?.searchesWeb ?? models.searchesWeb(id);
  const without = [...(model === undefined ? [] : [model]), ...fallback].find((id) => !searches(id));
  if (without === undefined) return;
  const sentence = `\`web_search\` is a tool of the model's provider, and the provider of \`${without}\` has none; name another model, or remove the tool.`;
  faults.add(location, [...path, 'tools', index], sentence);
}

/** The installation's model may be one of `providers.yaml`, which can be broken. */
function checkDefaultModel({ location, path }: AgentDraft, { models }: AgencySetting, faults: Faults): void {
  const problem = models.problem(models.defaultId);
  if (problem === null) return;
  const sentence = `This agent has no \`model\`, and the model of the installation cannot be used: ${problem}`;
  faults.add(location, [...path, 'name'], sentence);
}

function smaller(given: Partial<AgencyLimits>, ours: AgencyLimits): AgencyLimits {
  const of = (name: keyof AgencyLimits) => Math.min(given[name] ?? ours[name], ours[name]);
  return {
    steps: of('steps'),
    depth: of('depth'),
    handOffs: of('handOffs'),
    toolOutputCharacters: of('toolOutputCharacters'),
  };
}
