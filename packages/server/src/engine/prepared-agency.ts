import { LruCache } from '@runwire/lib/lru-cache.ts';
import { takesTemperature } from '@runwire/models';
import type { LoadedAgency, LoadedAgent } from '../agencies/loaded-agency.ts';
import type { Condition } from '../agent/conditions.ts';
import { flowTools, SEND_MESSAGE } from '../agent/flow-tools.ts';
import type { Model, ModelTool } from '../agent/ports.ts';
import type { Flow } from '../agent/team.ts';
import { shownFileTools } from '../agent/tools/file-tools.ts';
import { modelWindow } from '../domain/model/model-window.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import { getBeginningAgent } from '../domain/run/beginning-agent.ts';
import { handOffName } from '../domain/run/hand-off-name.ts';
import { agentWindow, handOffReach, reachedWindow, type WindowSetting } from './agent-windows.ts';
import type { EngineDeps } from './deps.ts';

/*
 * What all runs of one version of an agency share. It is made when the first run needs it and kept with the version, so
 * that a run only adds what is its own: instructions, prompt, and the files that its tools see.
 */

type LoadedSetting = WindowSetting<LoadedAgency>;

/** One agent with its models and tools. */
export class PreparedAgent {
  readonly agent: LoadedAgent;
  readonly modelId: string;
  /** Null if the model does not exist. */
  readonly model: Model | null;
  /** Only models that exist. */
  readonly fallback: readonly Model[];
  readonly windowTokens: number;
  readonly reachedWindowTokens: number;
  readonly flows: readonly Flow[];
  /** The names of the tools that hand over. */
  readonly handOffs: ReadonlySet<string>;
  /** The names of the agent's tools without those of MCP servers. */
  readonly ownToolNames: ReadonlySet<string>;
  readonly webSearch: boolean;
  /** What functions can hide from its model. Null if there is nothing. */
  readonly conditions: readonly Condition[] | null;
  readonly #ownTools: readonly ModelTool[];
  readonly #flowTools: readonly ModelTool[];
  #mcpTools: readonly ModelTool[] | null = null;
  #modelTools: readonly ModelTool[] = [];

  constructor(setting: LoadedSetting, agent: LoadedAgent, commandTools: readonly ModelTool[]) {
    const { agencies, agency, ofIntegration, models } = setting;
    const find = (id: string) => agent.ownModels.get(id) ?? models(id);
    this.agent = agent;
    this.modelId = agencies.getModel(agency, agent, ofIntegration);
    this.model = find(this.modelId);
    this.fallback = agent.fallback.flatMap((id) => find(id) ?? []);
    this.windowTokens = agentWindow(setting, agent);
    this.reachedWindowTokens = reachedWindow(setting, agent.name);
    this.flows = agent.flows.map((flow) => ({ ...flow, description: agency.agents.get(flow.to)?.description ?? '' }));
    this.handOffs = new Set(this.flows.flatMap(({ kind, to }) => (kind === 'handoff' ? [handOffName(to)] : [])));
    this.ownToolNames = ownToolNames(agent);
    this.webSearch = agent.builtIn.includes('web_search');
    this.conditions = listConditions(agent);
    this.#ownTools = ownTools(agent, commandTools);
    this.#flowTools = flowTools(this.flows);
  }

  /** Its tools as its model gets them. The same list in all runs, until an MCP server changes its tools. */
  modelTools(mcpTools: readonly ModelTool[]): readonly ModelTool[] {
    if (this.#mcpTools !== mcpTools) {
      this.#modelTools = [...this.#ownTools, ...mcpTools, ...this.#flowTools];
      this.#mcpTools = mcpTools;
    }
    return this.#modelTools;
  }

  /** True if the model and all its fallbacks read PDFs. */
  get takesPdf(): boolean {
    return this.model?.takesPdf === true && this.fallback.every((one) => one.takesPdf === true);
  }
}

/** Its tools as its model gets them, without flows and without tools of MCP servers. */
export function ownTools({ tools, builtIn }: LoadedAgent, commandTools: readonly ModelTool[]): readonly ModelTool[] {
  const names: readonly string[] = builtIn;
  return [...tools, ...[...shownFileTools, ...commandTools].filter(({ name }) => names.includes(name))];
}

function listConditions({ tools, flows }: LoadedAgent): readonly Condition[] | null {
  const ofTools = tools.flatMap(({ name, isEnabled }) =>
    isEnabled ? [{ kind: 'tool', name, isEnabled } as const] : [],
  );
  const ofFlows = flows.flatMap(({ kind, to, isEnabled }) => (isEnabled ? [{ kind, name: to, isEnabled }] : []));
  const all = [...ofTools, ...ofFlows];
  return all.length === 0 ? null : all;
}

/** The names of the agent's tools without those of MCP servers. */
export function ownToolNames({ tools, builtIn, flows }: LoadedAgent): ReadonlySet<string> {
  const ofFlows = flows.map(({ kind, to }) => (kind === 'handoff' ? handOffName(to) : SEND_MESSAGE));
  return new Set([...tools.map(({ name }) => name), ...builtIn, ...ofFlows]);
}

/** One version of an agency with one choice's models. */
export class PreparedAgency {
  readonly agency: LoadedAgency;
  readonly models: LoadedSetting['models'];
  readonly #setting: LoadedSetting;
  readonly #commandTools: readonly ModelTool[];
  readonly #agents = new Map<string, PreparedAgent>();
  readonly #reach = new Map<string, readonly LoadedAgent[]>();

  constructor(setting: LoadedSetting, commandTools: readonly ModelTool[]) {
    this.agency = setting.agency;
    this.models = setting.models;
    this.#setting = setting;
    this.#commandTools = commandTools;
  }

  /** The models that sum up a chat that begins with this agent, in the order in which they are asked, and their window. */
  summaryModels(entry: PreparedAgent): SummaryModels {
    const { modelId, ownModel } = this.agency.longChats;
    if (modelId === null) {
      const models = entry.model === null ? [] : [entry.model, ...entry.fallback];
      return { models, windowTokens: entry.windowTokens };
    }
    const model = ownModel ?? this.models(modelId);
    if (model === null) return { models: [], windowTokens: 0 };
    return { models: [model], windowTokens: model.windowTokens ?? modelWindow(modelId, this.#setting.otherwise) };
  }

  /** Returns null if there is no such agent. */
  agent(name: string): PreparedAgent | null {
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const agent = this.agency.agents.get(name);
    if (agent === undefined) return null;
    const prepared = new PreparedAgent(this.#setting, agent, this.#commandTools);
    this.#agents.set(name, prepared);
    return prepared;
  }

  /** Returns the agents that may answer the user in a run that begins with this one. */
  reach(entry: string): readonly LoadedAgent[] {
    let reached = this.#reach.get(entry);
    if (reached === undefined) {
      reached = handOffReach(this.agency, entry);
      this.#reach.set(entry, reached);
    }
    return reached;
  }

  /** True if every agent that may answer the user reads PDFs; otherwise their text is sent. */
  takesPdf(entry: string): boolean {
    return this.reach(entry).every(({ name }) => this.agent(name)?.takesPdf === true);
  }
}

export interface SummaryModels {
  readonly models: readonly Model[];
  /** The tokens that each of them accepts. */
  readonly windowTokens: number;
}

/** The agent as a mere model: its answer varies as little as the model allows. */
function toAlone(agent: LoadedAgent, modelId: string): LoadedAgent {
  const nothing = { tools: [], builtIn: [], mcp: [], skills: [], flows: [], fallback: [], approval: new Set<string>() };
  return {
    ...agent,
    ...nothing,
    guardrails: null,
    settings: settingsAlone(modelId),
    reasoning: undefined,
    output: null,
  };
}

export const settingsAlone = (modelId: string): LoadedAgent['settings'] =>
  takesTemperature(modelId) ? { temperature: 0 } : {};

/** The run for which an agency is prepared. */
type PreparedRun = Pick<AdmittedRun, 'agent' | 'model' | 'extras'>;

type PreparingDeps = Pick<EngineDeps, 'agencies' | 'models' | 'prompt' | 'commands'>;

/** Integrations may choose models. The choice that was used least recently is prepared again. */
const MAX_CHOICES = 100;

/** Prepares each version of an agency once. */
export class PreparedAgencies {
  readonly #deps: PreparingDeps;
  /** By the version, then by the integration's model. */
  readonly #prepared = new WeakMap<LoadedAgency, LruCache<string | null, PreparedAgency>>();

  constructor(deps: PreparingDeps) {
    this.#deps = deps;
  }

  /** `ofIntegration` is the model that the run's integration sets, or null. */
  find(agency: LoadedAgency, ofIntegration: string | null): PreparedAgency {
    // Another function if the providers have changed.
    const models = this.#deps.models();
    let choices = this.#prepared.get(agency);
    if (choices === undefined) {
      choices = new LruCache(MAX_CHOICES);
      this.#prepared.set(agency, choices);
    }
    const known = choices.get(ofIntegration);
    if (known?.models === models) return known;
    const prepared = this.#prepare(agency, ofIntegration);
    choices.set(ofIntegration, prepared);
    return prepared;
  }

  /** Prepares a version for one rerun: its root agent has another model, or is alone. */
  findFor(agency: LoadedAgency, run: PreparedRun): PreparedAgency {
    const { model, extras } = run;
    const { rerun } = extras;
    const root = getBeginningAgent(run, agency.agents);
    const agent = agency.agents.get(root);
    const ofRoot = rerun?.model ?? null;
    const isAlone = rerun?.eval?.alone === true;
    if ((ofRoot === null && !isAlone) || agent === undefined) return this.find(agency, model);
    const variant = { ...agent, model: ofRoot ?? agent.model };
    const modelId = this.#deps.agencies.getModel(agency, variant, model);
    const agents = new Map([...agency.agents, [root, isAlone ? toAlone(variant, modelId) : variant]]);
    return this.#prepare({ ...agency, agents }, model);
  }

  #prepare(agency: LoadedAgency, ofIntegration: string | null): PreparedAgency {
    const { agencies, prompt, commands, models } = this.#deps;
    const setting = { agencies, agency, ofIntegration, models: models(), otherwise: prompt.windowTokens };
    return new PreparedAgency(setting, commands?.tools.shown ?? []);
  }
}
