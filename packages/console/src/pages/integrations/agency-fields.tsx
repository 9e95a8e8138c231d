import type { Agency } from '@runwire/client';
import { useState } from 'react';
import { SelectField } from '../../ui/form.tsx';

interface AgencyFieldsProps {
  readonly agencies: readonly Agency[];
  /** What is chosen at first. */
  readonly agency: string;
  readonly agent: string | null;
}

/** The agency and one of its entry points. Another agency has other entry points. */
export function AgencyFields({ agencies, agency: firstAgency, agent: firstAgent }: AgencyFieldsProps) {
  const [agency, setAgency] = useState(firstAgency);
  const [agent, setAgent] = useState(firstAgent);
  // An agency without a version could never be loaded, so the server would refuse it.
  const usable = agencies.filter(({ version }) => version !== null);
  const chosen = usable.find((item) => item.agency === agency);
  const agencyChoices = usable.map((item) => ({
    value: item.agency,
    label: item.name === null || item.name === item.agency ? item.agency : `${item.name} (${item.agency})`,
  }));
  if (chosen === undefined) agencyChoices.unshift({ value: agency, label: `${agency} (not loaded)` });
  const entryPoints = chosen?.entryPoints ?? [];
  const agentChoices = entryPoints.map((name) => ({ value: name, label: name }));
  if (agent !== null && !entryPoints.includes(agent)) {
    agentChoices.unshift({ value: agent, label: `${agent} (not an entry point)` });
  }
  return (
    <>
      <SelectField
        label="Agency"
        name="agency"
        hint="The group of agents that answers."
        choices={agencyChoices}
        value={agency}
        onChange={(value) => {
          setAgency(value);
          setAgent(usable.find((item) => item.agency === value)?.defaultAgent ?? null);
        }}
      />
      <SelectField
        label="Entry point"
        name="defaultAgent"
        hint="The agent that answers if a request names none."
        choices={agentChoices}
        value={agent ?? ''}
        onChange={setAgent}
      />
    </>
  );
}
