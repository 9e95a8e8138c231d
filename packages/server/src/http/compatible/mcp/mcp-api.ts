import type { CompatibleApi } from '../compatible-api.ts';

export const MCP: CompatibleApi = {
  name: 'mcp',
  path: '/mcp',
  memberField: 'The header `X-Runwire-Consumer-Id`',
  contextField: 'The user context',
};
