import { InputError } from './errors.ts';

/** The form's field in which a person wrote an object. */
interface ObjectField {
  readonly name: string;
  /** Begins a sentence: `Metadata is not valid JSON`. */
  readonly label: string;
  readonly isPlural?: boolean;
  readonly example: string;
}

/** Throws an `InputError` about the field if the text is no JSON object. */
export function readObject(json: string, field: ObjectField): Readonly<Record<string, unknown>> {
  const { name, label, isPlural = false, example } = field;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new InputError(`${label} ${isPlural ? 'are' : 'is'} not valid JSON: ${(error as Error).message}.`, name);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new InputError(`${label} must be a JSON object, for example ${example}.`, name);
}
