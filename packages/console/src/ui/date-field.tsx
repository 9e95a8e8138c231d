import { type ChangeEvent, useEffect, useId, useRef } from 'react';

interface DateFieldProps {
  readonly label: string;
  readonly name: string;
  readonly type: 'date' | 'datetime-local';
  /** In the field's form. */
  readonly value: string;
  /** True if the field cannot be emptied. */
  readonly required?: boolean;
  /** Called with an empty text if the field was emptied. */
  readonly onChange: (value: string) => void;
}

/** Years outside are typed in part. */
const BOUNDS = {
  date: { min: '2000-01-01', max: '2999-12-31' },
  'datetime-local': { min: '2000-01-01T00:00', max: '2999-12-31T23:59' },
};

/** A filter for a day or a time. While the person types, the field has its own text: an incomplete date is no date. */
export function DateField({ label, name, type, value, required = false, onChange }: DateFieldProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current !== null && document.activeElement !== input.current) input.current.value = value;
  }, [value]);
  const commit = ({ target }: ChangeEvent<HTMLInputElement>) => {
    if (target.validity.valid && target.value !== value) onChange(target.value);
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        ref={input}
        id={id}
        name={name}
        type={type}
        className="input"
        {...BOUNDS[type]}
        required={required}
        defaultValue={value}
        onChange={commit}
        onBlur={(event) => {
          commit(event);
          if (!event.target.validity.valid) event.target.value = value;
        }}
      />
    </div>
  );
}
