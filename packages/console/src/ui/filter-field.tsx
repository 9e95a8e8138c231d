import { useCallback, useEffect, useRef, useState } from 'react';
import { TextField } from './form.tsx';

interface FilterFieldProps {
  readonly label: string;
  readonly name: string;
  /** The value in the address. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
  readonly placeholder?: string;
}

/** The address changes when the person has stopped typing for this time. */
const PAUSE_MS = 300;

/** A filter that is typed. Its value is in the address. */
export function FilterField({ value, onChange, ...rest }: FilterFieldProps) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  const change = useRef(onChange);
  useEffect(() => {
    change.current = onChange;
  });
  useEffect(() => {
    // The own change arrives while the person types on.
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  const send = useCallback((typed: string) => {
    if (typed.trim() === sent.current) return;
    sent.current = typed.trim();
    change.current(sent.current);
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => send(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, send]);
  return (
    <TextField
      type="search"
      maxLength={256}
      value={text}
      onChange={(event) => setText(event.target.value)}
      // The page of a link that is clicked must not be left again when the pause ends.
      onBlur={() => send(text)}
      {...rest}
    />
  );
}
