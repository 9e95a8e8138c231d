import type { LoadedAgency } from '../../agencies/loaded-agency.ts';
import type { McpServer } from '../../agent/mcp-port.ts';
import type { Guardrail, ModelTool } from '../../agent/ports.ts';
import { ownToolNames, ownTools } from '../prepared-agency.ts';

/** The tools that servers of the agency have now. An agent's other tools have the names `taken`. */
type ListMcpTools = (
  agency: string,
  servers: readonly McpServer[],
  taken: ReadonlySet<string>,
) => readonly (ModelTool & { readonly server: string })[];

/** What the models of the agency read, for people. The agency's code is not run. */
export function shownDefinition(
  { id, agents, guardrails: ofAgency }: LoadedAgency,
  commandTools: readonly ModelTool[],
  listMcpTools: ListMcpTools,
) {
  const all = [...agents.values()];
  return {
    sharedInstructions: all[0]?.instructionTexts.shared ?? '',
    guardrails: ofAgency.map(toShownGuardrail),
    agents: all.map((agent) => ({
      name: agent.name,
      instructions: agent.instructionTexts.own,
      tools: [
        ...ownTools(agent, commandTools).map((tool) => ({ ...toShown(tool), server: null })),
        ...listMcpTools(id, agent.mcp, ownToolNames(agent)).map((tool) => ({ ...toShown(tool), server: tool.server })),
      ],
      output: agent.output?.jsonSchema ?? null,
      guardrails: (agent.guardrails ?? []).slice(ofAgency.length).map(toShownGuardrail),
    })),
  };
}

const toShownGuardrail = ({ name, on }: Guardrail) => ({ name, on });

const toShown = ({ name, description, inputSchema }: ModelTool) => ({ name, description, inputSchema });
