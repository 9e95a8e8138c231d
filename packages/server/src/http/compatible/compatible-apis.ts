import { agencySwarmRoutes } from './agency-swarm/agency-swarm.ts';
import type { CompatibleDeps } from './compatible-deps.ts';
import { chatCompletionsRoutes } from './openai/chat-completions/chat-completions.ts';

/** Registers the compatible APIs: one folder each. */
export function compatibleApis(deps: CompatibleDeps): void {
  agencySwarmRoutes(deps);
  chatCompletionsRoutes(deps);
}
