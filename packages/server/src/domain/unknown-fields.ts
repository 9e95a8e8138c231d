const MAX_LISTED = 20;
const MAX_CHARACTERS = 64;
/** A name with more characters than this is near no field: the longest field has 22. */
const MAX_COMPARED = 32;

/** Returns the fields of a body that are not known, in the order in which they were sent. */
export function unknownFields(body: object, known: ReadonlySet<string>): string[] {
  const unknown: string[] = [];
  for (const name in body) if (!known.has(name) && Object.hasOwn(body, name)) unknown.push(name);
  return unknown;
}

/** Ignored fields as `meta` lists them: the first 20, each cut to 64 characters. */
export function listedFields(names: readonly string[]): string[] {
  return names.slice(0, MAX_LISTED).map((name) =>
    // A character has at most two code units. The first cut keeps a long name from being split whole.
    [...name.slice(0, 2 * MAX_CHARACTERS)].slice(0, MAX_CHARACTERS).join(''),
  );
}

interface ComparedField {
  readonly field: string;
  readonly characters: readonly string[];
}

/** Prepares the fields for comparisons. Call it once. */
export function comparedFields(known: Iterable<string>): readonly ComparedField[] {
  return [...known].map((field) => ({ field, characters: compared(field) ?? [] }));
}

/**
 * Returns the known field that a name was probably meant to be, or null if it is near none. Both are compared in lower
 * case without `_` and `-`: they are equal, or one insertion, deletion, replacement or transposition apart.
 * It takes 1 µs.
 */
export function nearestField(name: string, known: readonly ComparedField[]): string | null {
  const written = compared(name);
  if (written === null) return null;
  let near: string | null = null;
  for (const { field, characters } of known) {
    if (Math.abs(written.length - characters.length) > 1) continue;
    const at = firstDifference(written, characters);
    if (at === written.length && at === characters.length) return field;
    if (near === null && isOneEditApart(written, characters, at)) near = field;
  }
  return near;
}

/** Returns null if the name is too long to be compared: a name can have megabytes. */
function compared(name: string): string[] | null {
  const characters: string[] = [];
  for (const character of name) {
    if (character === '_' || character === '-') continue;
    if (characters.length === MAX_COMPARED) return null;
    characters.push(character.toLowerCase());
  }
  return characters;
}

function firstDifference(a: readonly string[], b: readonly string[]): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** `at` is the first difference. */
function isOneEditApart(a: readonly string[], b: readonly string[], at: number): boolean {
  const isTransposed = a[at] === b[at + 1] && a[at + 1] === b[at] && haveSameRest(a, at + 2, b, at + 2);
  return (
    isTransposed ||
    haveSameRest(a, at + 1, b, at + 1) ||
    haveSameRest(a, at + 1, b, at) ||
    haveSameRest(a, at, b, at + 1)
  );
}

function haveSameRest(a: readonly string[], fromA: number, b: readonly string[], fromB: number): boolean {
  if (a.length - fromA !== b.length - fromB) return false;
  for (let i = fromA; i < a.length; i += 1) if (a[i] !== b[fromB + i - fromA]) return false;
  return true;
}
