import { useQuery } from '@tanstack/react-query';
import { agenciesQuery, integrationQuery } from '../../app/queries.ts';
import { ClearFilters } from '../../ui/clear-filters.tsx';
import { FilterField } from '../../ui/filter-field.tsx';
import { SelectField } from '../../ui/form.tsx';
import { TimeFilter } from '../../ui/time-filter.tsx';

export type RunSearch = Partial<Readonly<Record<'status' | 'agent' | 'member' | 'chat' | 'from' | 'to', string>>>;

interface RunFiltersProps {
  readonly integration: string;
  readonly search: RunSearch;
  /** An empty text removes a filter. */
  readonly onChange: (changed: RunSearch) => void;
  readonly onClear: () => void;
}

const STATUSES = ['admitted', 'running', 'completed', 'failed', 'cancelled'];

export function RunFilters({ integration, search, onChange, onClear }: RunFiltersProps) {
  const agents = useAgents(integration, search.agent);
  return (
    <search className="filters run-filters">
      <SelectField
        label="Status"
        name="status"
        choices={[{ value: '', label: 'All' }, ...STATUSES.map((status) => ({ value: status, label: status }))]}
        value={search.status ?? ''}
        onChange={(status) => onChange({ status })}
      />
      <SelectField
        label="Agent"
        name="agent"
        choices={[{ value: '', label: 'All' }, ...agents.map((agent) => ({ value: agent, label: agent }))]}
        value={search.agent ?? ''}
        onChange={(agent) => onChange({ agent })}
      />
      <FilterField
        label="Member"
        name="member"
        placeholder="Id"
        value={search.member ?? ''}
        onChange={(member) => onChange({ member })}
      />
      <FilterField
        label="Chat"
        name="chat"
        placeholder="Id"
        value={search.chat ?? ''}
        onChange={(chat) => onChange({ chat })}
      />
      <TimeFilter label="From" name="from" value={search.from} onChange={(from) => onChange({ from })} />
      <TimeFilter label="To" name="to" value={search.to} onChange={(to) => onChange({ to })} />
      <ClearFilters isFiltered={Object.keys(search).length > 0} onClear={onClear} />
    </search>
  );
}

/** The agency's agents. A run may have an agent that the agency has no more. */
function useAgents(integration: string, chosen: string | undefined): readonly string[] {
  const { data: agencies = [] } = useQuery(agenciesQuery);
  const { data: settings } = useQuery(integrationQuery(integration));
  const known = agencies.find(({ agency }) => agency === settings?.agency)?.agents.map(({ name }) => name) ?? [];
  return chosen === undefined || known.includes(chosen) ? known : [chosen, ...known];
}
