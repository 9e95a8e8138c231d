import type { LoadedAgency, LoadedAgent } from '../agencies/loaded-agency.ts';
import { flowTools, SEND_MESSAGE } from '../agent/flow-tools.ts';
import type { ModelTool } from '../agent/ports.ts';
import type { Flow } from '../agent/team.ts';
import { shownFileTools } from '../agent/tools/file-tools.ts';
import { handOffName } from '../domain/hand-off-name.ts';

/** What is the same in all runs of an agent. */
export interface FixedParts {
  readonly flows: readonly Flow[];
  readonly handOffs: ReadonlySet<string>;
  readonly modelTools: readonly ModelTool[];
}

interface KnownParts {
  readonly mcpTools: readonly ModelTool[];
  readonly parts: FixedParts;
}

const partsByAgent = new WeakMap<LoadedAgent, KnownParts>();

/**
 * Made once per agent and list of MCP tools, because every run needs them. An edit of the agency loads new agents, and an
 * MCP server may change its tools.
 */
export function fixedParts(
  agency: LoadedAgency,
  agent: LoadedAgent,
  mcpTools: readonly ModelTool[],
  commandTools: readonly ModelTool[],
): FixedParts {
  const known = partsByAgent.get(agent);
  if (known !== undefined && known.mcpTools === mcpTools) return known.parts;
  const parts = makeParts(agency, agent, mcpTools, commandTools);
  partsByAgent.set(agent, { mcpTools, parts });
  return parts;
}

/** The names of the agent's tools without those of MCP servers. */
export function ownToolNames({ tools, builtIn, flows }: LoadedAgent): ReadonlySet<string> {
  const ofFlows = flows.map(({ kind, to }) => (kind === 'handoff' ? handOffName(to) : SEND_MESSAGE));
  return new Set([...tools.map(({ name }) => name), ...builtIn, ...ofFlows]);
}

function makeParts(
  { agents }: LoadedAgency,
  { tools, builtIn, flows: given }: LoadedAgent,
  mcpTools: readonly ModelTool[],
  commandTools: readonly ModelTool[],
): FixedParts {
  const flows = given.map((flow) => ({ ...flow, description: agents.get(flow.to)?.description ?? '' }));
  const names: readonly string[] = builtIn;
  const files = [...shownFileTools, ...commandTools].filter(({ name }) => names.includes(name));
  return {
    flows,
    handOffs: new Set(flows.flatMap(({ kind, to }) => (kind === 'handoff' ? [handOffName(to)] : []))),
    modelTools: [...tools, ...files, ...mcpTools, ...flowTools(flows)],
  };
}
