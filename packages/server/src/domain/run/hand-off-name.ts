/** Providers refuse longer names of tools. */
const MAX_TOOL_NAME = 64;

/** The name of the tool that hands over to an agent. Every character that a tool name cannot have becomes `_`. */
export function handOffName(agent: string): string {
  return `transfer_to_${agent.replaceAll(/[^A-Za-z0-9_-]/gu, '_')}`.slice(0, MAX_TOOL_NAME);
}
