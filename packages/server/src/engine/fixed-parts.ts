import type { LoadedAgency, LoadedAgent } from '../agencies/loaded-agency.ts';
import { flowTools } from '../agent/flow-tools.ts';
import type { ModelTool } from '../agent/ports.ts';
import type { Flow } from '../agent/team.ts';
import { shownFileTools } from '../agent/tools/file-tools.ts';
import { handOffName } from '../domain/hand-off-name.ts';

/** What is the same in all runs of an agent. */
export interface FixedParts {
  readonly flows: readonly Flow[];
  readonly handOffs: ReadonlySet<string>;
  readonly modelTools: readonly ModelTool[];
}

const partsByAgent = new WeakMap<LoadedAgent, FixedParts>();

/** Made once per agent, because every run needs them. An edit of the agency loads new agents. */
export function fixedParts(agency: LoadedAgency, agent: LoadedAgent): FixedParts {
  let parts = partsByAgent.get(agent);
  if (parts === undefined) {
    parts = makeParts(agency, agent);
    partsByAgent.set(agent, parts);
  }
  return parts;
}

function makeParts({ agents }: LoadedAgency, { tools, builtIn, flows: given }: LoadedAgent): FixedParts {
  const flows = given.map((flow) => ({ ...flow, description: agents.get(flow.to)?.description ?? '' }));
  const names: readonly string[] = builtIn;
  const files = shownFileTools.filter(({ name }) => names.includes(name));
  return {
    flows,
    handOffs: new Set(flows.flatMap(({ kind, to }) => (kind === 'handoff' ? [handOffName(to)] : []))),
    modelTools: [...tools, ...files, ...flowTools(flows)],
  };
}
