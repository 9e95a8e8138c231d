import type { RunRequest } from '@runwire/client';
import { InputError } from '../../app/errors.ts';

type UserContext = NonNullable<RunRequest['user_context']>;

/** Reads the `user_context` that a person typed. Undefined if it is empty. Throws if it is no object of JSON. */
export function readContext(text: string): UserContext | undefined {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as UserContext;
  } catch (error) {
    throw new InputError(`\`user_context\` is no valid JSON: ${(error as Error).message}`, 'user_context');
  }
  throw new InputError('`user_context` must be a JSON object, such as `{"plan": "pro"}`.', 'user_context');
}

const VARIABLE = /\{\{\s*user_context\.([^\s{}]+)\s*\}\}/g;

/** The names of the values of `user_context` that the instructions use. */
export const listVariables = (instructions: string): readonly string[] => [
  ...new Set([...instructions.matchAll(VARIABLE)].map(([, name = '']) => name)),
];

type Values = { [name: string]: unknown };

/** Adds an empty value with this name, which may have dots. The text stays the same if it cannot be read. */
export function addVariable(text: string, name: string): string {
  let context: Values;
  try {
    context = structuredClone((readContext(text) ?? {}) as Values);
  } catch {
    return text;
  }
  const names = name.split('.');
  let values = context;
  for (const part of names.slice(0, -1)) {
    const inner = values[part];
    const next: Values = typeof inner === 'object' && inner !== null ? (inner as Values) : {};
    values[part] = next;
    values = next;
  }
  values[names.at(-1) ?? name] ??= '';
  return JSON.stringify(context, null, 2);
}
