/** The owner and the API key of a request. */
export interface Principal {
  readonly ownerId: string;
  readonly administrator: boolean;
  readonly email: string | null;
  readonly name: string | null;
  /** `keyId` is null for the key of `RUNWIRE_API_KEY`. */
  readonly key: { readonly keyId: string | null; readonly name: string; readonly expiresAt: number | null };
}
