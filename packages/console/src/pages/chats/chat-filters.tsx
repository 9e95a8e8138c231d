import { ClearFilters } from '../../ui/clear-filters.tsx';
import { FilterField } from '../../ui/filter-field.tsx';
import { SelectField } from '../../ui/form.tsx';
import { TimeFilter } from '../../ui/time-filter.tsx';

export type ChatSearch = Partial<Readonly<Record<'member' | 'status' | 'updatedAfter', string>>>;

interface ChatFiltersProps {
  readonly search: ChatSearch;
  /** An empty text removes a filter. */
  readonly onChange: (changed: ChatSearch) => void;
  readonly onClear: () => void;
}

const STATUSES = [
  { value: '', label: 'All' },
  { value: 'idle', label: 'idle' },
  { value: 'running', label: 'running' },
];

export function ChatFilters({ search, onChange, onClear }: ChatFiltersProps) {
  const { member = '', status = '', updatedAfter } = search;
  return (
    <search className="filters">
      <FilterField
        label="Member"
        name="member"
        placeholder="Id"
        value={member}
        onChange={(value) => onChange({ member: value })}
      />
      <SelectField
        label="Status"
        name="status"
        choices={STATUSES}
        value={status}
        onChange={(value) => onChange({ status: value })}
      />
      <TimeFilter
        label="Updated after"
        name="updatedAfter"
        value={updatedAfter}
        onChange={(value) => onChange({ updatedAfter: value })}
      />
      <ClearFilters isFiltered={Object.keys(search).length > 0} onClear={onClear} />
    </search>
  );
}
