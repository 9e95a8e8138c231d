import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useRef } from 'react';
import { FilterField } from '../../ui/filter-field.tsx';
import { SelectField } from '../../ui/form.tsx';
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
  readonly onChange: (changed: UsageSearch) => void;
}

const MEASURE_CHOICES = [
  { value: 'tokens', label: 'Tokens' },
  { value: 'runs', label: 'Runs' },
  { value: 'charge', label: 'Charge' },
];

const SPLIT_CHOICES = [
  { value: '', label: 'Nothing' },
  { value: 'member', label: 'Member' },
  { value: 'agent', label: 'Agent' },
  { value: 'model', label: 'Model' },
];

/** What the page shows. Every change is in the address. */
export function UsageFiltersForm({ integration, filters, measure, splitBy, onChange }: UsageFiltersFormProps) {
  const { period, member, agent, model } = filters;
  return (
    <search className="usage-filters" aria-label="Filters">
      <SelectField
        label="Measure"
        name="measure"
        choices={MEASURE_CHOICES}
        value={measure}
        onChange={(value) => onChange({ measure: value === 'tokens' ? '' : value })}
      />
      <SelectField
        label="Split by"
        name="splitBy"
        choices={SPLIT_CHOICES}
        value={splitBy}
        onChange={(value) => onChange({ splitBy: value })}
      />
      <DayField label="First day" value={period.from} onChange={(from) => onChange({ from })} />
      <DayField label="Last day" value={period.to} onChange={(to) => onChange({ to })} />
      <FilterField
        name="member"
        label="Member"
        placeholder="Id of a member"
        value={member ?? ''}
        onChange={(id) => onChange({ member: id })}
      />
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
    </search>
  );
}

interface DayFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (day: string) => void;
}

/** A day. While the person types, the field has its own text: a day that is not complete is no day. */
function DayField({ label, value, onChange }: DayFieldProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current !== null && document.activeElement !== input.current) input.current.value = value;
  }, [value]);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        ref={input}
        id={id}
        type="date"
        className="input"
        min="2000-01-01"
        max="2999-12-31"
        defaultValue={value}
        onChange={({ target }) => {
          if (target.value !== '' && target.validity.valid) onChange(target.value);
        }}
      />
    </div>
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
