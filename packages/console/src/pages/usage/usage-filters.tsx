import { useQuery } from '@tanstack/react-query';
import { ClearFilters } from '../../ui/clear-filters.tsx';
import { DateField } from '../../ui/date-field.tsx';
import { SelectField } from '../../ui/form.tsx';
import { MemberField } from '../../ui/member-field.tsx';
import { type UsageFilters, usedNamesQuery } from './usage-data.ts';
import { type Period, periodError } from './usage-period.ts';

export type UsageSearch = Partial<
  Readonly<Record<'from' | 'to' | 'measure' | 'splitBy' | 'member' | 'agent' | 'model', string>>
>;

interface UsageFiltersFormProps {
  readonly integration: string;
  readonly filters: UsageFilters;
  readonly measure: string;
  readonly splitBy: string;
  /** The measures that the integration has, the first one first. */
  readonly measures: readonly string[];
  readonly isFiltered: boolean;
  readonly onChange: (changed: UsageSearch) => void;
  readonly onClear: () => void;
}

const MEASURE_CHOICES = [
  { value: 'cost', label: 'Cost' },
  { value: 'tokens', label: 'Tokens' },
  { value: 'runs', label: 'Runs' },
  { value: 'failed', label: 'Failed runs' },
  { value: 'charge', label: 'Charge' },
];

const SPLIT_CHOICES = [
  { value: '', label: 'Nothing' },
  { value: 'member', label: 'Member' },
  { value: 'agent', label: 'Agent' },
  { value: 'model', label: 'Model' },
];

/** What the page shows. Every change is in the address. */
export function UsageFiltersForm(props: UsageFiltersFormProps) {
  const { integration, filters, measure, splitBy, measures, isFiltered, onChange, onClear } = props;
  const { period, member, agent, model } = filters;
  return (
    <search className="usage-filters" aria-label="Filters">
      <SelectField
        label="Measure"
        name="measure"
        choices={MEASURE_CHOICES.filter(({ value }) => measures.includes(value))}
        value={measure}
        onChange={(value) => onChange({ measure: value === measures[0] ? '' : value })}
      />
      <SelectField
        label="Split by"
        name="splitBy"
        choices={SPLIT_CHOICES}
        value={splitBy}
        onChange={(value) => onChange({ splitBy: value })}
      />
      <DateField
        label="From"
        name="from"
        type="date"
        value={period.from}
        onChange={(from) => onChange({ from })}
        required
      />
      <DateField label="To" name="to" type="date" value={period.to} onChange={(to) => onChange({ to })} required />
      <MemberField apiIntegrationId={integration} member={member} onChange={(id = '') => onChange({ member: id })} />
      <NameField
        title="Agent"
        groupBy="agent"
        value={agent}
        {...{ integration, period }}
        onChange={(name) => onChange({ agent: name })}
      />
      <NameField
        title="Model"
        groupBy="model"
        value={model}
        {...{ integration, period }}
        onChange={(name) => onChange({ model: name })}
      />
      <ClearFilters isFiltered={isFiltered} onClear={onClear} />
    </search>
  );
}

interface NameFieldProps {
  readonly title: string;
  readonly groupBy: 'agent' | 'model';
  readonly integration: string;
  readonly period: Period;
  readonly value: string | undefined;
  readonly onChange: (name: string) => void;
}

/** Chooses one of the agents or models that were used. */
function NameField({ title, groupBy, integration, period, value, onChange }: NameFieldProps) {
  const isPossible = periodError(period) === null;
  const { data = [] } = useQuery({ ...usedNamesQuery(integration, period, groupBy), enabled: isPossible });
  const names = value === undefined || data.includes(value) ? data : [value, ...data];
  const choices = [{ value: '', label: 'All' }, ...names.map((name) => ({ value: name, label: name }))];
  return <SelectField label={title} name={groupBy} choices={choices} value={value ?? ''} onChange={onChange} />;
}
