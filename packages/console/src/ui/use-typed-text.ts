import { useCallback, useEffect, useRef, useState } from 'react';

/** The address changes when the person has stopped typing for this time. */
const PAUSE_MS = 300;

interface TypedText {
  readonly text: string;
  readonly setText: (text: string) => void;
  /** Changes the address without the pause. */
  readonly flush: () => void;
}

const trim = (text: string) => text.trim();

/** The text of a field whose value is in the address. `toValue` makes the value of the text. */
export function useTypedText(
  value: string,
  onChange: (value: string) => void,
  toValue: (text: string) => string = trim,
): TypedText {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  const latest = useRef({ onChange, toValue });
  useEffect(() => {
    latest.current = { onChange, toValue };
  });
  useEffect(() => {
    // The own change arrives while the person types on.
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  const send = useCallback((typed: string) => {
    const changed = latest.current.toValue(typed);
    if (changed === sent.current) return;
    sent.current = changed;
    latest.current.onChange(changed);
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => send(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, send]);
  return { text, setText, flush: () => send(text) };
}
