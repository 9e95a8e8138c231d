import type { OwnerId } from '../ids.ts';

/** A request's owner, and the API key or the session with which it was sent. */
export interface Principal {
  readonly ownerId: OwnerId;
  readonly administrator: boolean;
  readonly email: string | null;
  readonly name: string | null;
  /** `keyId` is null for the key of `RUNWIRE_API_KEY`. A person's key in the console is the session. */
  readonly key: { readonly keyId: string | null; readonly name: string; readonly expiresAt: number | null };
}
