import { TextField } from './form.tsx';
import { useTypedText } from './use-typed-text.ts';

interface FilterFieldProps {
  readonly label: string;
  readonly name: string;
  /** The value in the address. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
  readonly placeholder?: string;
}

/** A filter that is typed. Its value is in the address. */
export function FilterField({ value, onChange, ...rest }: FilterFieldProps) {
  const { text, setText, flush } = useTypedText(value, onChange);
  return (
    <TextField
      type="search"
      maxLength={256}
      value={text}
      onChange={(event) => setText(event.target.value)}
      // The page of a link that is clicked must not be left again when the pause ends.
      onBlur={flush}
      {...rest}
    />
  );
}
