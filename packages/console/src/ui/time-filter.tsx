import { DateField } from './date-field.tsx';

interface TimeFilterProps {
  readonly label: string;
  readonly name: string;
  /** In UTC, so that a link means the same time everywhere. */
  readonly value: string | undefined;
  /** Called with an empty text if the filter was removed. */
  readonly onChange: (value: string) => void;
}

/** A filter for a time. The person sees and types it in the browser's zone. */
export function TimeFilter({ label, name, value, onChange }: TimeFilterProps) {
  return (
    <DateField
      label={label}
      name={name}
      type="datetime-local"
      value={toLocalTime(value)}
      onChange={(time) => onChange(time && new Date(time).toISOString())}
    />
  );
}

/** The time in the field's form. Empty if it is no time. */
function toLocalTime(value: string | undefined): string {
  const time = new Date(value ?? '');
  if (Number.isNaN(time.getTime())) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
