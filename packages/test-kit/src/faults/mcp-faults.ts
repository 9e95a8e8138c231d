import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@runwire/mcp-sessions/src/connection.ts';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { McpServers } from '@runwire/server/src/mcp/mcp-servers.ts';

/** A run waits until all MCP servers of its agency are connected. */
function waitForServer(): Overrides {
  const { openRun } = McpServers.prototype;
  McpServers.prototype.openRun = function (this: McpServers, agency) {
    const servers = openRun.call(this, agency);
    const areConnected = () => this.states(agency).every(({ state }) => state === 'connected');
    return {
      async tools(...args) {
        while (!areConnected()) await sleep(50);
        return servers.tools(...args);
      },
      release: () => servers.release(),
    };
  };
  return {};
}

/** Programs get the server's whole environment. */
function inheritEnvironment(): Overrides {
  const { open } = Connection;
  Connection.open = (setting, signal) => {
    const { address } = setting;
    if (address.kind !== 'stdio') return open.call(Connection, setting, signal);
    const env = { ...(process.env as Record<string, string>), ...address.env };
    return open.call(Connection, { ...setting, address: { ...address, env } }, signal);
  };
  return {};
}

export const MCP_FAULTS = { 'wait-for-server': waitForServer, 'inherit-environment': inheritEnvironment };
