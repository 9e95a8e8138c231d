import { agUi } from './ag-ui/ag-ui.ts';
import { agencySwarmRoutes } from './agency-swarm/agency-swarm.ts';
import { aiSdk } from './ai-sdk/ai-sdk.ts';
import type { CompatibleDeps } from './compatible-deps.ts';
import { mcp } from './mcp/mcp.ts';
import { openaiRoutes } from './openai/openai-routes.ts';

/** Registers the compatible APIs: one folder each. */
export function compatibleApis(deps: CompatibleDeps): void {
  agencySwarmRoutes(deps);
  agUi(deps);
  mcp(deps);
  openaiRoutes(deps);
  aiSdk(deps);
}
