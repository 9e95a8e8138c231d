import type { Guardrail } from '../agent/ports.ts';
import { GUARDRAIL_POSITIONS, type GuardrailPosition } from '../domain/run/guardrail-record.ts';
import { comparedFields, nearestField } from '../domain/unknown-fields.ts';
import { type Faults, inWords, type Location, type Path } from './fault.ts';
import type { RefusedCode } from './refused-code.ts';

/** Guardrails by their names. */
export type GuardrailParts = ReadonlyMap<string, Guardrail | RefusedCode>;

export const NO_GUARDRAILS: GuardrailParts = new Map();

/** A guardrail as `defineGuardrail` makes it. Every field is checked before it is used. */
interface GivenGuardrail {
  readonly name?: unknown;
  readonly on?: unknown;
  readonly check?: unknown;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

const isPosition = (on: unknown): on is GuardrailPosition => GUARDRAIL_POSITIONS.some((known) => known === on);

/** True if a tool file's export is meant to be a guardrail. */
export const looksLikeGuardrail = (value: object): boolean =>
  'check' in value && !('execute' in value) && !('inputSchema' in value);

/** Checks a guardrail and converts it to the form that the loop asks. */
export function loadGuardrail(given: object): Guardrail | RefusedCode {
  const guardrail = given as GivenGuardrail;
  const { name, on, check } = guardrail;
  if (typeof name !== 'string' || !NAME.test(name))
    return { refused: 'has no `name` that can be used; use 1 to 64 letters, digits, `_` and `-`.' };
  if (!isPosition(on)) {
    const written = typeof on === 'string' ? `\`on: ${JSON.stringify(on)}\`` : 'no `on`';
    return { refused: `has ${written}; write ${inWords(GUARDRAIL_POSITIONS)}.` };
  }
  if (typeof check !== 'function') return { refused: 'has a `check` that is not a function; make it one.' };
  return { name, on, check: async (about) => (check as (about: unknown) => unknown).call(guardrail, about) };
}

/** A list of names in an agency or an agent. */
export interface GuardrailList {
  readonly names: readonly string[];
  readonly location: Location;
  /** The path of the list. */
  readonly path: Path;
}

/** Finds the guardrails that an agency or an agent names. `asked` are the agency's, if an agent names others. */
export function findGuardrails(
  { names, location, path }: GuardrailList,
  known: GuardrailParts,
  asked: readonly Guardrail[],
  faults: Faults,
): readonly Guardrail[] {
  return names.flatMap((name, index) => {
    const add = (message: string) => faults.add(location, [...path, index], message);
    const found = known.get(name);
    if (found === undefined) add(unknownGuardrail(name, known));
    else if ('refused' in found) add(`The guardrail \`${name}\` ${found.refused}`);
    else if (asked.some((one) => one.name === name))
      add(`The agency has the guardrail \`${name}\` already, for all agents; remove it here.`);
    else return [found];
    return [];
  });
}

function unknownGuardrail(name: string, known: GuardrailParts): string {
  const names = [...known.keys()];
  const near = nearestField(name, comparedFields(names));
  if (near !== null) return `There is no guardrail \`${name}\`; did you mean \`${near}\`?`;
  if (names.length > 0) return `There is no guardrail \`${name}\`; write ${inWords(names)}.`;
  return `There is no guardrail \`${name}\`; export it from a file that \`toolFiles\` lists.`;
}
