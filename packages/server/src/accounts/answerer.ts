import type { Caller } from '../domain/account/caller.ts';
import type { Answerer } from '../domain/question/question.ts';
import { isSessionId } from './session-life.ts';

/** Who is recorded with the answers that this caller sends. */
export function toAnswerer({ principal, clientToken }: Caller): Answerer {
  if (clientToken !== null) return { kind: 'client_token', id: clientToken.consumerId, name: null };
  const { key, ownerId, name, email } = principal;
  const isPerson = key.keyId !== null && isSessionId(key.keyId);
  return isPerson
    ? { kind: 'person', id: ownerId, name: name ?? email }
    : { kind: 'key', id: key.keyId, name: key.name };
}
