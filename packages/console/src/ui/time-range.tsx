import { useState } from 'react';
import { RECENT } from '../lib/recent-time.ts';
import { SelectField } from './form.tsx';
import { TimeFilter } from './time-filter.tsx';

type TimeSearch = Readonly<Partial<Record<'last' | 'from' | 'to', string>>>;

interface TimeRangeProps {
  readonly search: TimeSearch;
  /** False if the list has no filter for the end. */
  readonly hasEnd: boolean;
  /** An empty text removes a filter. */
  readonly onChange: (changed: TimeSearch) => void;
}

const OWN = 'own';
const CHOICES = [
  { value: '', label: 'Any time' },
  ...Object.entries(RECENT).map(([value, { title }]) => ({ value, label: title })),
  { value: OWN, label: 'Own range…' },
];

/** The times of a list: one of the usual ones, or from and to. */
export function TimeRange({ search: { last = '', from, to }, hasEnd, onChange }: TimeRangeProps) {
  const [isOpen, setOpen] = useState(false);
  const isOwn = last === '' && (isOpen || from !== undefined || to !== undefined);
  const choose = (value: string) => {
    setOpen(value === OWN);
    if (value !== OWN) onChange({ last: value, from: '', to: '' });
    else if (last !== '') onChange({ last: '' });
  };
  return (
    <>
      <SelectField
        label="Time"
        name="last"
        choices={CHOICES}
        value={isOwn ? OWN : last in RECENT ? last : ''}
        onChange={choose}
      />
      {isOwn && <TimeFilter label="From" name="from" value={from} onChange={(time) => onChange({ from: time })} />}
      {isOwn && hasEnd && <TimeFilter label="To" name="to" value={to} onChange={(time) => onChange({ to: time })} />}
    </>
  );
}
