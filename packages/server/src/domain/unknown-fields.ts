const MAX_LISTED = 20;
const MAX_CHARACTERS = 64;
/** A name with more characters than this is near no field: the longest field has 22. */
const MAX_COMPARED = 32;

/** The fields of a body that are not known, in the order sent. */
export function unknownFields(body: object, known: ReadonlySet<string>): string[] {
  const unknown: string[] = [];
  for (const name in body) if (!known.has(name) && Object.hasOwn(body, name)) unknown.push(name);
  return unknown;
}

/** Ignored fields as `meta` lists them: the first 20, each cut to 64 characters. */
export function listedFields(names: readonly string[]): string[] {
  return names.slice(0, MAX_LISTED).map((name) =>
    // Twice as many code units hold at least so many characters.
    [...name.slice(0, 2 * MAX_CHARACTERS)].slice(0, MAX_CHARACTERS).join(''),
  );
}

/**
 * The known field that a name was probably meant to be; null if it is near none. Both are compared in lower case without
 * `_` and `-`: they are equal, or one insertion, deletion, replacement or transposition apart.
 */
export function nearestField(name: string, known: Iterable<string>): string | null {
  const written = compared(name);
  if (written === null) return null;
  let near: string | null = null;
  for (const field of known) {
    const meant = compared(field) ?? [];
    if (written.join('') === meant.join('')) return field;
    if (near === null && isOneEditApart(written, meant)) near = field;
  }
  return near;
}

/** Returns null if too much is left: names may have megabytes. */
function compared(name: string): string[] | null {
  const characters: string[] = [];
  for (const character of name) {
    if (character === '_' || character === '-') continue;
    if (characters.length === MAX_COMPARED) return null;
    characters.push(character.toLowerCase());
  }
  return characters;
}

function isOneEditApart(a: readonly string[], b: readonly string[]): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  const same = (fromA: number, fromB: number) =>
    a.length - fromA === b.length - fromB && a.slice(fromA).every((character, i) => character === b[fromB + i]);
  const isTransposed = a[at] === b[at + 1] && a[at + 1] === b[at] && same(at + 2, at + 2);
  return same(at + 1, at + 1) || same(at + 1, at) || same(at, at + 1) || isTransposed;
}
