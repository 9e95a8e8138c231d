import { type Agencies, toolNames } from '../../../agencies/agencies.ts';
import type { LoadedAgency, LoadedAgent } from '../../../agencies/loaded-agency.ts';

/** Sizes and distances. Clients draw this layout as it is. */
const WIDTH = 800;
const AGENT = { width: 120, height: 60 };
const TOOL = { width: 100, height: 50 };
const GAP = 120;

interface Position {
  readonly x: number;
  readonly y: number;
}

/** The agency as agency-swarm's `get_metadata` shows it: a graph for ReactFlow. Instructions are not shown. */
export function metadataJson(agencies: Agencies, agency: LoadedAgency, ofIntegration: string | null) {
  const agents = [...agency.agents.values()];
  const positions = agentPositions(agency);
  const nodes = agents.flatMap((agent) => {
    const at = positions.get(agent.name) ?? { x: 0, y: 0 };
    const model = agencies.getModel(agency, agent, ofIntegration);
    const tools = listTools(agent);
    return [
      ...tools.map((tool, index) => toolNode(agent, tool, index, at)),
      agentNode(agency, agent, model, tools, at),
    ];
  });
  const edges = agents.flatMap((agent) => [
    ...listTools(agent).map((_, index) => {
      const target = toolNodeId(agent, index);
      return { id: `${agent.name}->${target}`, source: agent.name, target, type: 'owns' };
    }),
    ...agent.flows.map(({ to, kind }) => ({
      id: `${agent.name}->${to}`,
      source: agent.name,
      target: to,
      type: 'communication',
      data: { label: kind === 'handoff' ? 'can hand over to' : 'can send messages to', bidirectional: false },
    })),
  ]);
  const metadata = {
    agencyName: agency.name,
    totalAgents: agents.length,
    totalTools: agents.reduce((sum, agent) => sum + listTools(agent).length, 0),
    agents: agents.map(({ name }) => name),
    entryPoints: agency.entryPoints,
    sharedInstructions: '',
    layoutAlgorithm: 'hierarchical',
  };
  return { nodes, edges, metadata, allowed_local_file_dirs: null };
}

interface ShownTool {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly inputSchema?: unknown;
}

function listTools(agent: LoadedAgent): ShownTool[] {
  const own = new Map(agent.tools.map((tool) => [tool.name, tool]));
  const tools = toolNames(agent).map((name) => {
    const tool = own.get(name);
    const schema = tool === undefined ? {} : { inputSchema: tool.inputSchema };
    return { name, type: 'FunctionTool', description: tool?.description ?? '', ...schema };
  });
  return [...tools, ...agent.mcp.map(({ name }) => ({ name, type: 'MCPServer', description: '' }))];
}

const toolNodeId = (agent: LoadedAgent, index: number): string => `${agent.name}_tool_${index}`;

function agentNode(
  { entryPoints }: LoadedAgency,
  agent: LoadedAgent,
  model: string,
  tools: readonly ShownTool[],
  position: Position,
) {
  const capabilities = [
    ...(tools.length > 0 ? ['tools'] : []),
    ...(agent.reasoning === undefined ? [] : ['reasoning']),
  ];
  const data = {
    label: agent.name,
    description: agent.description,
    isEntryPoint: entryPoints.includes(agent.name),
    toolCount: tools.length,
    tools,
    instructions: '',
    model,
    hasSubagents: agent.flows.some(({ kind }) => kind === 'delegate'),
    capabilities,
    ...(agent.starters.length > 0 ? { conversationStarters: agent.starters } : {}),
  };
  return { id: agent.name, data, type: 'agent', position };
}

function toolNode(agent: LoadedAgent, tool: ShownTool, index: number, { x, y }: Position) {
  const { name, type, description, ...schema } = tool;
  const hasTeam = agent.flows.length > 1;
  const position = hasTeam
    ? { x: x + AGENT.width / 2 + TOOL.width / 2 + 40, y }
    : { x, y: y + AGENT.height / 2 + TOOL.height / 2 + 60 };
  const data = { label: name, description, type, ...schema, parentAgent: agent.name };
  return { id: toolNodeId(agent, index), data, type: 'tool', position };
}

/** Entry points are in the first row; every other agent is in the row after the nearest agent that reaches it. */
function agentPositions({ agents, entryPoints }: LoadedAgency): ReadonlyMap<string, Position> {
  const placed = new Set<string>();
  const positions = new Map<string, Position>();
  let row: readonly string[] = entryPoints;
  for (let y = 80; placed.size < agents.size; y += AGENT.height + GAP) {
    // Agents that no entry point reaches are in the last row.
    if (row.length === 0) row = [...agents.keys()].filter((name) => !placed.has(name));
    const used = row.length * AGENT.width + (row.length - 1) * GAP;
    const left = used <= WIDTH ? (WIDTH - used) / 2 + AGENT.width / 2 : AGENT.width / 2;
    for (const [index, name] of row.entries()) {
      placed.add(name);
      positions.set(name, { x: left + index * (AGENT.width + GAP), y });
    }
    const reached = row.flatMap((name) => agents.get(name)?.flows.map(({ to }) => to) ?? []);
    row = [...new Set(reached)].filter((name) => !placed.has(name));
  }
  return positions;
}
