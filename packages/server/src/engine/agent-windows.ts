import type { Agencies } from '../agencies/agencies.ts';
import type { LoadedAgency, LoadedAgent } from '../agencies/loaded-agency.ts';
import type { Model } from '../agent/ports.ts';
import { modelWindow } from '../domain/model/model-window.ts';
import type { FindModel } from './deps.ts';

type WindowAgent = Pick<LoadedAgent, 'name' | 'model' | 'fallback' | 'flows'> & {
  readonly ownModels: ReadonlyMap<string, Pick<Model, 'windowTokens'>>;
};

/** The part of an agency that decides the windows. */
export interface WindowAgency<A extends WindowAgent = WindowAgent> extends Pick<LoadedAgency, 'model'> {
  readonly agents: ReadonlyMap<string, A>;
}

/** What decides the windows of an agency's agents in a run. */
export interface WindowSetting<A extends WindowAgency = WindowAgency> {
  readonly agencies: Pick<Agencies, 'getModel'>;
  readonly agency: A;
  /** The model that the run's integration sets, or null. */
  readonly ofIntegration: string | null;
  readonly models: FindModel;
  /** The window of a model whose window is unknown. */
  readonly otherwise: number;
}

/** Returns the agent and the agents that its hand-offs reach, also through others: each may get its conversation. */
export function handOffReach<A extends WindowAgent>(agency: WindowAgency<A>, name: string): readonly A[] {
  const names = new Set([name]);
  const reached: A[] = [];
  for (const next of names) {
    const agent = agency.agents.get(next);
    if (agent === undefined) continue;
    reached.push(agent);
    for (const { kind, to } of agent.flows) if (kind === 'handoff') names.add(to);
  }
  return reached;
}

/** Returns the smallest window of the agent's model and its fallbacks. */
export function agentWindow(setting: WindowSetting, agent: WindowAgent): number {
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
