import type { LoadedAgency } from '../agencies/loaded-agency.ts';
import type { CheckedSettings } from '../config/read-config.ts';
import { McpServers } from '../mcp/mcp-servers.ts';
import type { ServerProblem } from '../mcp/server-problem.ts';
import { createLogger } from '../telemetry/logger.ts';
import { openAskForeign } from './ask-foreign.ts';

/**
 * Connects the MCP servers of these agencies once, as a start does, and ends the sessions. Servers that need values of a run
 * are left out.
 */
export async function tryServers(
  agencies: readonly Pick<LoadedAgency, 'id' | 'mcp'>[],
  { config, secrets: { variable } }: CheckedSettings,
): Promise<readonly ServerProblem[]> {
  await using servers = new McpServers({
    variable,
    askForeign: openAskForeign(config),
    logger: createLogger('silent'),
  });
  servers.use(agencies.map(({ id, mcp }) => ({ agency: id, servers: mcp })));
  const found = await Promise.all(servers.firstProblems());
  return found.filter((problem) => problem !== null);
}
