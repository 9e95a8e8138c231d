import { RunwireError } from '@runwire/client';
import { createContext, useContext } from 'react';
import { InputError } from '../app/errors.ts';
import { Prose } from './prose.tsx';

/** A mistake in one field of a form. */
export interface FieldFault {
  /** The field's name. */
  readonly field: string;
  readonly message: string;
}

export const FieldFaultContext = createContext<FieldFault | null>(null);

/** Errors that are always about one field, although their sentences do not name it. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  unknown_agency: ['agency'],
  unknown_agent: ['defaultAgent', 'agent'],
  integration_exists: ['apiIntegrationId'],
  owner_exists: ['email'],
  person_exists: ['email'],
};

/** Returns the field of the form that the error is about. Null if it is about something else. */
export function findFieldFault(form: HTMLFormElement, error: unknown): FieldFault | null {
  const hasField = (name: string) => name !== '' && form.elements.namedItem(name) !== null;
  if (error instanceof InputError) {
    return error.field !== undefined && hasField(error.field) ? { field: error.field, message: error.message } : null;
  }
  if (!(error instanceof RunwireError)) return null;
  const { code, message } = error;
  const field = [...(FIELDS[code] ?? []), ...(code === 'invalid_request' ? listPaths(message) : [])].find(hasField);
  return field === undefined ? null : { field, message };
}

/** The API names fields in backticks, such as `allowances.limit`. A form's field has the whole path or its last part. */
function listPaths(sentence: string): readonly string[] {
  const paths = sentence.split('`').filter((_, index) => index % 2 === 1);
  return paths.flatMap((path) => {
    const plain = path.replace(/\[\d+\]/g, '');
    return [plain, plain.slice(plain.lastIndexOf('.') + 1), plain.replace(/\..*$/, '')];
  });
}

/** How a field shows its mistake. `id` is that of the field. */
export function useFieldFault(name: string, id: string, hint: unknown) {
  const fault = useContext(FieldFaultContext);
  const isWrong = fault?.field === name;
  const parts = [...(hint === undefined ? [] : [`${id}-hint`]), ...(isWrong ? [`${id}-fault`] : [])];
  return {
    attributes: {
      'aria-describedby': parts.length === 0 ? undefined : parts.join(' '),
      'aria-invalid': isWrong || undefined,
    },
    fault: isWrong ? (
      <div id={`${id}-fault`} role="alert" className="field-fault">
        <Prose text={fault.message} />
      </div>
    ) : null,
  };
}
