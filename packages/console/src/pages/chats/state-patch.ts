import { InputError } from '../../app/errors.ts';

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the JSON merge patch that makes one state of the other. It has only what differs, so it keeps what a run or another
 * person changes elsewhere. Throws an `InputError` about the field if a patch cannot express the change.
 */
export function toPatch(before: Members, after: Members, field: string): Members {
  return comparePaths(before, after, field, []);
}

function comparePaths(before: Members, after: Members, field: string, path: readonly string[]): Members {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  const changed = Object.entries(after).flatMap(([key, value]): [string, unknown][] => {
    const known = Object.hasOwn(before, key) ? before[key] : undefined;
    if (JSON.stringify(known) === JSON.stringify(value)) return [];
    const at = [...path, key];
    if (value === null) {
      const sentence = `\`${at.join('.')}\` is null, and null in a change removes the member. Delete it, or write another value.`;
      throw new InputError(sentence, field);
    }
    return [[key, isMembers(value) ? comparePaths(isMembers(known) ? known : {}, value, field, at) : value]];
  });
  // A member can be called `__proto__`.
  return Object.fromEntries([...removed.map((key): [string, unknown] => [key, null]), ...changed]);
}
