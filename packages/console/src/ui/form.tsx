import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type InputHTMLAttributes, type ReactNode, useEffect, useId, useRef } from 'react';
import { ErrorNotice } from './error-notice.tsx';

/** A form's values by its fields' names. */
export class Fields {
  readonly #data: FormData;

  constructor(data: FormData) {
    this.#data = data;
  }

  text(name: string): string {
    return String(this.#data.get(name) ?? '').trim();
  }

  /** As typed, with spaces at its ends: for passwords and messages. */
  exact(name: string): string {
    return String(this.#data.get(name) ?? '');
  }

  /** Returns undefined if the field is empty. */
  optional(name: string): string | undefined {
    return this.text(name) || undefined;
  }

  /** Returns null if the field is empty. */
  number(name: string): number | null {
    const text = this.text(name);
    return text === '' ? null : Number(text);
  }

  checked(name: string): boolean {
    return this.#data.get(name) !== null;
  }

  files(name: string): readonly File[] {
    return this.#data.getAll(name).filter((value) => value instanceof File);
  }
}

interface FormProps {
  readonly submitLabel: string;
  /** Shown on the button while the request runs. */
  readonly pendingLabel: string;
  readonly isDanger?: boolean;
  readonly onSubmit: (fields: Fields) => Promise<unknown>;
  /** Adds a button that closes the form's dialog. */
  readonly onCancel?: () => void;
  /** What that button is called, if `Cancel` is ambiguous. */
  readonly cancelLabel?: string;
  readonly children: ReactNode;
}

/** A form that shows its request's error, and cannot be sent twice. */
export function Form(props: FormProps) {
  const { submitLabel, pendingLabel, isDanger = false, onSubmit, onCancel, cancelLabel = 'Cancel', children } = props;
  const { mutate, error, isPending, reset } = useMutation({ mutationFn: onSubmit });
  const notice = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // In a long dialog the error would be below what is visible.
    if (error !== null) notice.current?.scrollIntoView({ block: 'nearest' });
  }, [error]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // Forms have passwords, so what was sent is forgotten immediately.
    if (!isPending) mutate(new Fields(new FormData(event.currentTarget)), { onSuccess: reset });
  };
  return (
    <form className="stack" aria-busy={isPending} onSubmit={submit}>
      {children}
      {error !== null && (
        <div ref={notice}>
          <ErrorNotice error={error} />
        </div>
      )}
      <div className="row row-end">
        {onCancel !== undefined && (
          <button
            type="button"
            className="button"
            aria-disabled={isPending}
            onClick={() => {
              // A request cannot be taken back, and its error must be seen.
              if (!isPending) onCancel();
            }}
          >
            {cancelLabel}
          </button>
        )}
        <button
          type="submit"
          className={`button ${isDanger ? 'button-danger' : 'button-primary'}`}
          aria-disabled={isPending}
        >
          {isPending ? pendingLabel : submitLabel}
        </button>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  readonly name: string;
  readonly hint?: ReactNode;
}

interface TextFieldProps extends FieldProps, Omit<InputHTMLAttributes<HTMLInputElement>, 'name'> {
  readonly isCode?: boolean;
}

export function TextField({ label, name, hint, isCode = false, ...rest }: TextFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        className={isCode ? 'input input-code' : 'input'}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        autoComplete="off"
        {...rest}
      />
      <Hint id={id} hint={hint} />
    </div>
  );
}

interface TextAreaFieldProps extends FieldProps {
  readonly defaultValue?: string;
  readonly rows?: number;
  readonly required?: boolean;
  readonly isCode?: boolean;
}

export function TextAreaField({ label, name, hint, isCode = false, ...rest }: TextAreaFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        className={isCode ? 'input input-code' : 'input'}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        {...rest}
      />
      <Hint id={id} hint={hint} />
    </div>
  );
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

interface SelectFieldProps extends FieldProps {
  readonly choices: readonly Choice[];
  readonly defaultValue?: string;
  /** For a select outside a form, such as a filter. */
  readonly value?: string;
  readonly onChange?: (value: string) => void;
}

export function SelectField({ label, name, hint, choices, defaultValue, value, onChange }: SelectFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        name={name}
        className="input"
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        defaultValue={defaultValue}
        value={value}
        onChange={onChange && ((event) => onChange(event.target.value))}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <Hint id={id} hint={hint} />
    </div>
  );
}

interface CheckFieldProps extends FieldProps {
  readonly defaultChecked?: boolean;
}

export function CheckField({ label, name, hint, defaultChecked }: CheckFieldProps) {
  const id = useId();
  return (
    <div className="check">
      <input
        type="checkbox"
        id={id}
        name={name}
        defaultChecked={defaultChecked}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
      <div>
        <label htmlFor={id}>{label}</label>
        <Hint id={id} hint={hint} />
      </div>
    </div>
  );
}

function Hint({ id, hint }: { readonly id: string; readonly hint: ReactNode }) {
  if (hint === undefined) return null;
  return (
    <div id={`${id}-hint`} className="field-hint">
      {hint}
    </div>
  );
}
