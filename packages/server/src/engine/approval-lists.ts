import type { LoadedAgent } from '../agencies/loaded-agency.ts';
import type { McpTool } from '../agent/mcp-port.ts';
import { alwaysAsks, type Tool } from '../agent/ports.ts';

/** A tool of an MCP server is found by each name that it can have: another server may take one name by listing a tool. */
export const isListed = (names: ReadonlySet<string>, tool: Tool | McpTool): boolean =>
  names.has(tool.name) || ('possibleNames' in tool && tool.possibleNames.some((name) => names.has(name)));

/**
 * Adds what the agent's lists say about its tools. `approval` counts whatever the tool's own rule is. A tool that only the
 * caller can run asks already.
 */
export function withApprovalLists(
  { approval, editable, remember }: LoadedAgent,
  tools: readonly (Tool | McpTool)[],
): readonly Tool[] {
  if (approval.size === 0 && editable.size === 0 && remember.size === 0) return tools;
  return tools.map((tool) => ({
    ...tool,
    ...(isListed(approval, tool) && tool.asks?.kind !== 'tool' && { asks: alwaysAsks('approval', tool.checkInput) }),
    ...(isListed(editable, tool) && { editable: true }),
    ...(isListed(remember, tool) && { remember: true }),
  }));
}
