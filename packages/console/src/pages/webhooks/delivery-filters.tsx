import { ClearFilters } from '../../ui/clear-filters.tsx';
import { SelectField } from '../../ui/form.tsx';
import { TimeFilter } from '../../ui/time-filter.tsx';
import { EVENT_TYPES } from './event-types.ts';

export type DeliverySearch = Partial<Readonly<Record<'status' | 'type' | 'from' | 'to', string>>>;

interface DeliveryFiltersProps {
  readonly search: DeliverySearch;
  /** An empty text removes a filter. */
  readonly onChange: (changed: DeliverySearch) => void;
  readonly onClear: () => void;
}

const STATUSES = ['pending', 'delivered', 'failed', 'skipped'];

const ALL = { value: '', label: 'All' };
const toChoice = (value: string) => ({ value, label: value });

export function DeliveryFilters({ search, onChange, onClear }: DeliveryFiltersProps) {
  return (
    <search className="filters">
      <SelectField
        label="Status"
        name="status"
        choices={[ALL, ...STATUSES.map(toChoice)]}
        value={search.status ?? ''}
        onChange={(status) => onChange({ status })}
      />
      <SelectField
        label="Type"
        name="type"
        choices={[ALL, ...EVENT_TYPES.map(([type]) => toChoice(type))]}
        value={search.type ?? ''}
        onChange={(type) => onChange({ type })}
      />
      <TimeFilter label="From" name="from" value={search.from} onChange={(from) => onChange({ from })} />
      <TimeFilter label="To" name="to" value={search.to} onChange={(to) => onChange({ to })} />
      <ClearFilters isFiltered={Object.keys(search).length > 0} onClear={onClear} />
    </search>
  );
}
