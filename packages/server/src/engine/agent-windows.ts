import type { Agencies } from '../agencies/agencies.ts';
import type { LoadedAgency, LoadedAgent } from '../agencies/loaded-agency.ts';
import { modelWindow } from '../domain/model/model-window.ts';
import type { FindModel } from './deps.ts';

/** What decides the windows of an agency's agents in a run. */
export interface WindowSetting {
  readonly agencies: Pick<Agencies, 'getModel'>;
  readonly agency: LoadedAgency;
  /** The model that the run's integration sets, or null. */
  readonly ofIntegration: string | null;
  readonly models: FindModel;
  /** The window of a model whose window is unknown. */
  readonly otherwise: number;
}

/** Returns the agent and the agents that its hand-offs reach, also through others: each may get its conversation. */
export function handOffReach(agency: LoadedAgency, name: string): readonly LoadedAgent[] {
  const names = new Set([name]);
  const reached: LoadedAgent[] = [];
  for (const next of names) {
    const agent = agency.agents.get(next);
    if (agent === undefined) continue;
    reached.push(agent);
    for (const { kind, to } of agent.flows) if (kind === 'handoff') names.add(to);
  }
  return reached;
}

/** Returns the smallest window of the agent's model and its fallbacks. */
export function agentWindow(setting: WindowSetting, agent: LoadedAgent): number {
  const { agencies, agency, ofIntegration, models, otherwise } = setting;
  const windows = [agencies.getModel(agency, agent, ofIntegration), ...agent.fallback].map(
    (id) => (agent.ownModels.get(id) ?? models(id))?.windowTokens ?? modelWindow(id, otherwise),
  );
  return Math.min(...windows);
}

/** Returns the smallest window of all models that may get the conversation of the agent. */
export function reachedWindow(setting: WindowSetting, name: string): number {
  return Math.min(...handOffReach(setting.agency, name).map((agent) => agentWindow(setting, agent)));
}
