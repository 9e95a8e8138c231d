import type { AboutStep } from '@runwire/agency';
import type { IsEnabled } from '../agent/ports.ts';
import { comparedFields, nearestField } from '../domain/unknown-fields.ts';
import { type Faults, inWords, type Location, type Path } from './fault.ts';
import type { RefusedCode } from './refused-code.ts';

/** Functions that decide about flows, by the names that flows have in `isEnabled`. */
export type ConditionParts = ReadonlyMap<string, IsEnabled | RefusedCode>;

export const NO_CONDITIONS: ConditionParts = new Map();

/** The field's value as its author wrote it: a function. `owner` is the object that has it. */
export const loadCondition =
  (given: (about: AboutStep) => unknown, owner?: object): IsEnabled =>
  async (about) =>
    given.call(owner, about);

/** Finds the function that a flow names. Returns undefined if it names none, and if the function cannot be used. */
export function findCondition(
  name: string | undefined,
  known: ConditionParts,
  { location, path }: { readonly location: Location; readonly path: Path },
  faults: Faults,
): IsEnabled | undefined {
  if (name === undefined) return undefined;
  const found = known.get(name);
  if (found === undefined) faults.add(location, path, unknownFunction(name, [...known.keys()]));
  else if (typeof found === 'function') return found;
  else faults.add(location, path, `The function \`${name}\` ${found.refused}`);
  return undefined;
}

function unknownFunction(name: string, known: readonly string[]): string {
  const near = nearestField(name, comparedFields(known));
  if (near !== null) return `There is no function \`${name}\`; did you mean \`${near}\`?`;
  if (known.length > 0) return `There is no function \`${name}\`; write ${inWords(known)}.`;
  return `There is no function \`${name}\`; export it from a file that \`toolFiles\` lists.`;
}
