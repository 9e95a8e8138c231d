/** Providers refuse longer names of tools. */
const MAX_TOOL_NAME = 64;

/** The name of a tool that is about an agent. Every character that a tool name cannot have becomes `_`. */
const agentToolName = (prefix: string, agent: string) =>
  `${prefix}${agent.replaceAll(/[^A-Za-z0-9_-]/gu, '_')}`.slice(0, MAX_TOOL_NAME);

/** The name of the tool that hands over to an agent. */
export const handOffName = (agent: string): string => agentToolName('transfer_to_', agent);

/** The name of the tool with which an MCP host asks an agent. */
export const askName = (agent: string): string => agentToolName('ask_', agent);
