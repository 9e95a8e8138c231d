import type { Caller } from '../domain/account/caller.ts';
import { MINTING_ROLE, type Role } from '../domain/account/role.ts';
import type { RunId } from '../domain/ids.ts';
import type { FollowedEvents } from '../eventlog/follow.ts';

/** What a stream reads, and with which key. */
export interface StreamSource extends FollowedEvents {
  /** The request's key; null if it is `RUNWIRE_API_KEY`, which cannot be revoked while the server runs. */
  readonly keyId: string | null;
  /** The stream is cut if the person or the key has less than this role. */
  readonly role: Role;
}

/** The events of a run after this one, for the sender of a request. */
export function streamSource({ principal, clientToken }: Caller, runId: RunId, after: number): StreamSource {
  const { ownerId, key } = principal;
  return { runId, after, ownerId, keyId: key.keyId, role: clientToken === null ? 'viewer' : MINTING_ROLE };
}
