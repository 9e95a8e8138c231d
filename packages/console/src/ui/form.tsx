import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type InputHTMLAttributes, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { DiscardDialog, useDialog } from './dialog.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { type FieldFault, FieldFaultContext, findFieldFault, useFieldFault } from './field-error.tsx';
import { useDraft } from './use-draft.ts';

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
  /** True if the person may only read: then nothing can be changed or sent. */
  readonly isReadOnly?: boolean;
  /** Shown on the button while the request runs. */
  readonly pendingLabel: string;
  readonly isDanger?: boolean;
  readonly onSubmit: (fields: Fields) => Promise<unknown>;
  /** Adds a button that closes the form's dialog. */
  readonly onCancel?: () => void;
  /** What that button is called, if `Cancel` is ambiguous. */
  readonly cancelLabel?: string;
  /** False if nothing is lost when the form is left with changes. */
  readonly isGuarded?: boolean;
  readonly children: ReactNode;
}

/** A form that shows its request's error, at its field if it is about one, and cannot be sent twice. */
export function Form(props: FormProps) {
  const { submitLabel, pendingLabel, isReadOnly = false, isDanger = false, onSubmit, onCancel } = props;
  const { cancelLabel = 'Cancel' } = props;
  const form = useRef<HTMLFormElement>(null);
  const [fault, setFault] = useState<FieldFault | null>(null);
  const dialog = useDialog();
  const { compare, accept, setSending, question } = useDraft(form, props.isGuarded ?? true);
  const { mutate, error, isPending, reset } = useMutation({ mutationFn: onSubmit });
  const notice = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // In a long dialog the error would be below what is visible.
    if (fault !== null) (form.current?.elements.namedItem(fault.field) as HTMLElement | null)?.focus();
    else if (error !== null) notice.current?.scrollIntoView({ block: 'nearest' });
  }, [error, fault]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isPending) return;
    const { currentTarget: sent } = event;
    setFault(null);
    setSending(true);
    mutate(new Fields(new FormData(sent)), {
      onSuccess: () => {
        accept();
        // Forms have passwords, so what was sent is forgotten immediately.
        reset();
      },
      onError: (failure) => setFault(findFieldFault(sent, failure)),
      onSettled: () => setSending(false),
    });
  };
  return (
    <form
      ref={form}
      className="stack"
      aria-busy={isPending}
      onSubmit={submit}
      onInput={({ target }) => {
        compare();
        if (fault !== null && (target as HTMLInputElement).name === fault.field) setFault(null);
      }}
    >
      <FieldFaultContext value={fault}>
        {isReadOnly ? (
          <fieldset className="stack read-only" disabled>
            {props.children}
          </fieldset>
        ) : (
          props.children
        )}
      </FieldFaultContext>
      {error !== null && fault === null && (
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
              if (!isPending) (dialog?.leave ?? onCancel)();
            }}
          >
            {cancelLabel}
          </button>
        )}
        {!isReadOnly && (
          <button
            type="submit"
            className={`button ${isDanger ? 'button-danger' : 'button-primary'}`}
            aria-disabled={isPending}
          >
            {isPending ? pendingLabel : submitLabel}
          </button>
        )}
      </div>
      {question !== null && <DiscardDialog onKeep={question.keep} onDiscard={question.discard} />}
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
  const { attributes, fault } = useFieldFault(name, id, hint);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        className={isCode ? 'input input-code' : 'input'}
        {...attributes}
        autoComplete="off"
        {...rest}
      />
      {fault}
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
  const { attributes, fault } = useFieldFault(name, id, hint);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea id={id} name={name} className={isCode ? 'input input-code' : 'input'} {...attributes} {...rest} />
      {fault}
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
  const { attributes, fault } = useFieldFault(name, id, hint);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        name={name}
        className="input"
        {...attributes}
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
      {fault}
      <Hint id={id} hint={hint} />
    </div>
  );
}

interface CheckFieldProps extends FieldProps {
  readonly defaultChecked?: boolean;
}

export function CheckField({ label, name, hint, defaultChecked }: CheckFieldProps) {
  const id = useId();
  const { attributes, fault } = useFieldFault(name, id, hint);
  return (
    <div className="check">
      <input type="checkbox" id={id} name={name} defaultChecked={defaultChecked} {...attributes} />
      <div>
        <label htmlFor={id}>{label}</label>
        {fault}
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
