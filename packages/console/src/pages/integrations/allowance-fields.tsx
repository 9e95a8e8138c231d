import type { AllowanceSetting } from '@runwire/client';
import { useState } from 'react';
import { SelectField, TextField } from '../../ui/form.tsx';
import { NO_ALLOWANCES } from './changed-settings.ts';

const UNITS = [
  { value: NO_ALLOWANCES, label: 'No allowances' },
  { value: 'runs', label: 'Runs' },
  { value: 'tokens', label: 'Tokens' },
  { value: 'credits', label: 'Credits' },
];

const PERIODS = [
  { value: 'day', label: 'Each day' },
  { value: 'week', label: 'Each week' },
  { value: 'month', label: 'Each month' },
  { value: 'lifetime', label: 'Once, never reset' },
];

interface AllowanceFieldsProps {
  readonly allowances: AllowanceSetting | null;
}

/** How much each member may use. */
export function AllowanceFields({ allowances }: AllowanceFieldsProps) {
  const [unit, setUnit] = useState<string>(allowances?.unit ?? NO_ALLOWANCES);
  return (
    <>
      <SelectField
        label="Allowance of each member"
        name="unit"
        hint="With an allowance, every request must name a member. Credits need a price for each model."
        choices={UNITS}
        value={unit}
        onChange={setUnit}
      />
      {unit !== NO_ALLOWANCES && (
        <>
          <TextField
            label="Limit"
            name="limit"
            type="number"
            min={0}
            max={1e15}
            step={1}
            required
            defaultValue={allowances?.limit ?? ''}
            hint={`How many ${unit} a member may use in a period. A member can have a limit of its own.`}
          />
          <SelectField
            label="Period"
            name="period"
            hint="Periods begin at 00:00 UTC, weeks on Monday."
            choices={PERIODS}
            defaultValue={allowances?.period ?? 'month'}
          />
        </>
      )}
    </>
  );
}
