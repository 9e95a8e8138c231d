import type { LoadedAgent } from '../agencies/loaded-agency.ts';
import type { McpTools } from '../agent/mcp-port.ts';
import type { ModelTool } from '../agent/ports.ts';
import type { Logger } from '../telemetry/logger.ts';
import { ownToolNames } from './prepared-agency.ts';

/** The lists of MCP tools that were checked. Each list is the same in all runs, until a server changes its tools. */
const checked = new WeakSet<readonly ModelTool[]>();

/** Warns about names in the lists for approvals that no tool has: their author expects questions that are never asked. */
export function checkApproval(agent: LoadedAgent, { tools, shown, isComplete }: McpTools, logger: Logger): void {
  const listed = agent.approval.union(agent.editable).union(agent.remember);
  if (listed.size === 0 || !isComplete || checked.has(shown)) return;
  checked.add(shown);
  const known = new Set([...ownToolNames(agent), ...tools.flatMap(({ possibleNames }) => possibleNames)]);
  const unknown = [...listed].filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  logger.warn(
    { agent: agent.name, unknown },
    '`approval`, `editable` or `remember` of an agent names tools that it does not have; correct the names',
  );
}
