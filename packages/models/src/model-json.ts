import { isDeeperThan } from '@runwire/lib/strict-json.ts';

/** JSON that a model wrote may be nested this deep. `JSON.stringify` exceeds the stack from about 5 000 levels on. */
const MAX_DEPTH = 500;

/** Describes JSON that is too deep, for the model. */
export const TOO_DEEP = `nested deeper than ${MAX_DEPTH} levels`;

export function isTooDeep(text: string): boolean {
  return isDeeperThan(text, MAX_DEPTH);
}
