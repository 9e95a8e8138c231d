import { useCallback, useEffect, useId, useRef, useState } from 'react';

interface SearchFieldProps {
  readonly label: string;
  readonly placeholder: string;
  /** The text in the address. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const PAUSE_MS = 250;

/** Text of a filter. It is used when the person stops typing. */
export function SearchField({ label, placeholder, value, onChange }: SearchFieldProps) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  const change = useRef(onChange);
  useEffect(() => {
    change.current = onChange;
  });
  const send = useCallback((text: string) => {
    if (text === sent.current) return;
    sent.current = text;
    change.current(text);
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => send(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, send]);
  useEffect(() => {
    // The address was changed by a link or by the buttons of the browser, not by typing.
    if (value === sent.current) return;
    sent.current = value;
    setTyped(value);
  }, [value]);
  return (
    <div className="field search">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="search"
        className="input"
        placeholder={placeholder}
        maxLength={256}
        autoComplete="off"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        // A link that is clicked must not be followed by the change of this field.
        onBlur={() => send(typed)}
      />
    </div>
  );
}
