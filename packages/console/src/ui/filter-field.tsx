import { useEffect, useRef, useState } from 'react';
import { TextField } from './form.tsx';

interface FilterFieldProps {
  readonly label: string;
  readonly name: string;
  /** The value in the address. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
}

/** The address changes when the person has stopped typing for this time. */
const PAUSE_MS = 300;

/** A filter that is typed. Its value is in the address. */
export function FilterField({ label, name, value, onChange, hint }: FilterFieldProps) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    // The own change arrives while the person types on.
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  useEffect(() => {
    if (text.trim() === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text.trim();
      onChange(sent.current);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, onChange]);
  return (
    <TextField
      label={label}
      name={name}
      type="search"
      value={text}
      onChange={(event) => setText(event.target.value)}
      {...(hint === undefined ? {} : { hint })}
    />
  );
}
