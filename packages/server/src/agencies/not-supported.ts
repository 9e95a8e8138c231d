import type { AgencyDraft } from './agency-draft.ts';
import type { Faults, Path, Place } from './fault.ts';

/** Fields of `agency.yaml` that this version cannot carry out. It breaks the agency instead of ignoring them. */
const AGENT_FIELDS = ['mcp', 'approval', 'skills'] as const;

export function checkSupported({ value, place, agents }: AgencyDraft, faults: Faults): void {
  const refuse = (at: Place, path: Path, field: string) =>
    faults.add(at, path, `\`${field}\` is not supported by this version; remove it.`, 'key');
  if (value.mcp !== undefined) refuse(place, ['mcp'], 'mcp');
  for (const agent of agents) {
    for (const field of AGENT_FIELDS) {
      if (agent.value[field] !== undefined) refuse(agent.place, [...agent.path, field], field);
    }
    if (agent.value.sandbox === true) refuse(agent.place, [...agent.path, 'sandbox'], 'sandbox');
    if (typeof agent.value.files === 'object') refuse(agent.place, [...agent.path, 'files', 'below'], 'files.below');
  }
}
