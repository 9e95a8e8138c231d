import type {
  AgencyLimits,
  InstructionTexts,
  LoadedAgency,
  LoadedAgent,
  LoadedFlow,
} from '../../agencies/loaded-agency.ts';
import type { ModelTool } from '../../agent/ports.ts';
import { ownTools } from '../prepared-agency.ts';

/** What an agent tells its model, without the agency's code. */
export interface AgentDefinition {
  readonly name: string;
  readonly description: string;
  readonly instructions: InstructionTexts;
  readonly model: string | null;
  readonly fallback: readonly string[];
  /** The windows for models that the agency brings as objects. */
  readonly ownWindows: Readonly<Record<string, number | null>>;
  readonly settings: LoadedAgent['settings'];
  readonly reasoning: NonNullable<LoadedAgent['reasoning']> | null;
  readonly webSearch: boolean;
  /** Its tools without flows, and without MCP tools, which belong to no version. */
  readonly tools: readonly ModelTool[];
  /** The schema of its answer. Null if its answers are free text. */
  readonly output: Readonly<Record<string, unknown>> | null;
  readonly flows: readonly Omit<LoadedFlow, 'isEnabled'>[];
}

/** What an agency's version tells its models. It is stored, so it contains no code and no secrets. */
export interface AgencyDefinition {
  readonly model: string | null;
  readonly limits: AgencyLimits;
  /** True if long chats are not summed up. Absent in definitions that an earlier version stored. */
  readonly leavesOut?: boolean;
  readonly agents: readonly AgentDefinition[];
}

export const describeAgency = (
  { model, limits, longChats, agents }: LoadedAgency,
  commandTools: readonly ModelTool[],
): AgencyDefinition => ({
  model,
  limits,
  leavesOut: !longChats.isSummarized,
  agents: [...agents.values()].map((agent) => describeAgent(agent, commandTools)),
});

const describeAgent = (agent: LoadedAgent, commandTools: readonly ModelTool[]): AgentDefinition => ({
  name: agent.name,
  description: agent.description,
  instructions: agent.instructionTexts,
  model: agent.model,
  fallback: agent.fallback,
  ownWindows: Object.fromEntries([...agent.ownModels].map(([id, own]) => [id, own.windowTokens ?? null])),
  settings: agent.settings,
  reasoning: agent.reasoning ?? null,
  webSearch: agent.builtIn.includes('web_search'),
  tools: ownTools(agent, commandTools).map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  })),
  output: agent.output?.jsonSchema ?? null,
  // A step knows what its model did not see, so no code is needed.
  flows: agent.flows.map(({ isEnabled: _, ...flow }) => flow),
});

/** If the version is neither loaded nor stored, only the agents in the run's steps are known. */
export const unknownDefinition = (agents: readonly string[], limits: AgencyLimits): AgencyDefinition => ({
  model: null,
  limits,
  agents: agents.map((name) => ({
    name,
    description: '',
    instructions: { shared: '', own: null, contextToModel: false, files: '' },
    model: null,
    fallback: [],
    ownWindows: {},
    settings: {},
    reasoning: null,
    webSearch: false,
    tools: [],
    output: null,
    flows: [],
  })),
});
