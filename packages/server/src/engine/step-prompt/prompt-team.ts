import { knownInstructions } from '../../agencies/instructions.ts';
import type { AboutRun } from '../../agencies/loaded-agency.ts';
import { flowTools } from '../../agent/flow-tools.ts';
import type { Model, ModelTool } from '../../agent/ports.ts';
import type { Exchange, Team, TeamAgent } from '../../agent/team.ts';
import { handOffName } from '../../domain/run/hand-off-name.ts';
import { RunFailure } from '../../domain/run/run-failure.ts';
import { agentWindow, handOffReach, type WindowAgency, type WindowSetting } from '../agent-windows.ts';
import type { AgencyDefinition, AgentDefinition } from './definition.ts';

/** What decides the team besides the definition. */
export interface TeamSetting extends Omit<WindowSetting, 'agency'> {
  readonly about: AboutRun;
  /** The agent at which the run began. */
  readonly root: string;
  /** The request's tools that are still stored. */
  readonly clientTools: readonly ModelTool[];
  /** The schema that the request brought for the answer to the user; null if it brought none. */
  readonly outputSchema: Readonly<Record<string, unknown>> | null;
  readonly exchanges: (sender: string, recipient: string) => Promise<readonly Exchange[]>;
}

/** The agents in a run that is only shown. They have no code, and their models are never called. */
export class PromptTeam implements Team {
  readonly #definition: AgencyDefinition;
  readonly #setting: TeamSetting;
  readonly #windows: WindowSetting;

  constructor(definition: AgencyDefinition, setting: TeamSetting) {
    this.#definition = definition;
    this.#setting = setting;
    this.#windows = { ...setting, agency: toWindowAgency(definition) };
  }

  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  async agent(name: string): Promise<TeamAgent> {
    return this.#toAgent(name, null);
  }

  /** The agent that begins the run. */
  rootAgent(): TeamAgent {
    return this.#toAgent(this.#setting.root, this.#setting.outputSchema);
  }

  async member(): Promise<null> {
    return null;
  }

  exchanges(sender: string, recipient: string): Promise<readonly Exchange[]> {
    return this.#setting.exchanges(sender, recipient);
  }

  /** What asks is in the journal. */
  async rememberedTools(): Promise<ReadonlySet<string>> {
    return new Set();
  }

  /** True if nothing in the agent's instructions is missing. */
  isWhole(name: string): boolean {
    const found = this.#find(name);
    return found !== undefined && knownInstructions(found.instructions, this.#setting.about).isWhole;
  }

  /** True if a function made the agent's instructions. */
  isWritten(name: string): boolean {
    return this.#find(name)?.instructions.own === null;
  }

  #find(name: string): AgentDefinition | undefined {
    return this.#definition.agents.find((agent) => agent.name === name);
  }

  #toAgent(name: string, outputSchema: Readonly<Record<string, unknown>> | null): TeamAgent {
    const found = this.#find(name);
    if (found === undefined) throw new RunFailure('internal_error', `The agent \`${name}\` does not exist.`);
    const reached = handOffReach(this.#windows.agency, name);
    const windows = reached.map((agent) => agentWindow(this.#windows, agent));
    const own = this.#windows.agency.agents.get(name);
    const flows = found.flows.map((flow) => ({ ...flow, description: this.#find(flow.to)?.description ?? '' }));
    const speaks = handOffReach(this.#windows.agency, this.#setting.root).some((agent) => agent.name === name);
    const output = outputSchema ?? found.output;
    return {
      name,
      instructions: knownInstructions(found.instructions, this.#setting.about).text ?? '',
      model: { id: '', call: neverCalled } satisfies Model,
      fallback: [],
      windowTokens: own === undefined ? this.#setting.otherwise : agentWindow(this.#windows, own),
      reachedWindowTokens: Math.min(...windows),
      tools: [],
      modelTools: [...found.tools, ...flowTools(flows), ...(speaks ? this.#setting.clientTools : [])],
      handOffs: new Set(flows.flatMap(({ kind, to }) => (kind === 'handoff' ? [handOffName(to)] : []))),
      webSearch: found.webSearch,
      reasoning: found.reasoning ?? undefined,
      settings: found.settings,
      output: output === null ? null : { jsonSchema: output, check: (value) => ({ value }) },
      // What they decided is in the journal.
      guardrails: null,
      conditions: null,
      flows,
      failedServers: [],
    };
  }
}

const neverCalled: Model['call'] = () => Promise.reject(new Error('The model of a shown prompt is never called.'));

const toWindowAgency = ({ model, agents }: AgencyDefinition): WindowAgency => ({
  model,
  agents: new Map(
    agents.map(({ name, model: own, fallback, flows, ownWindows }) => {
      const windows = Object.entries(ownWindows).map(
        ([id, tokens]) => [id, { windowTokens: tokens ?? undefined }] as const,
      );
      return [name, { name, model: own, fallback, flows, ownModels: new Map(windows) }];
    }),
  ),
});
