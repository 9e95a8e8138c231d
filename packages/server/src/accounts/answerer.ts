import type { Caller } from '../domain/account/caller.ts';
import type { Answerer } from '../domain/question/question.ts';
import { keyCreator } from './keys.ts';

/** Who is recorded with the answers that this caller sends. */
export function toAnswerer({ principal, clientToken }: Caller): Answerer {
  if (clientToken !== null) return { kind: 'client_token', id: clientToken.consumerId, name: null };
  return keyCreator(principal);
}
