import { agencySwarmRoutes } from './agency-swarm/agency-swarm.ts';
import type { CompatibleDeps } from './compatible-deps.ts';

/** Registers the compatible APIs: one folder each. */
export function compatibleApis(deps: CompatibleDeps): void {
  agencySwarmRoutes(deps);
}
