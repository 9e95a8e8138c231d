import type { Role } from '@runwire/contract';
import type { OwnerId, PersonId } from '../ids.ts';

/** The person of a console session. */
export interface Person {
  readonly personId: PersonId;
  readonly email: string | null;
  readonly name: string | null;
}

/** A request's owner, and its API key or session. */
export interface Principal {
  readonly ownerId: OwnerId;
  readonly administrator: boolean;
  readonly email: string | null;
  readonly name: string | null;
  /** Null if the request was sent with an API key. */
  readonly person: Person | null;
  /** What the person or the API key may do. */
  readonly role: Role;
  /** The only integrations that the API key reaches. Null: all of the owner. */
  readonly integrations: readonly string[] | null;
  /** `keyId` is null for the key of `RUNWIRE_API_KEY`. A person's key in the console is the session. */
  readonly key: { readonly keyId: string | null; readonly name: string; readonly expiresAt: number | null };
}
