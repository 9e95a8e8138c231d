import { hkdfSync } from 'node:crypto';
import type { ClientToken } from '../domain/account/caller.ts';
import type { Principal } from '../domain/account/principal.ts';
import { type IntegrationId, newId } from '../domain/ids.ts';
import { type TokenProblem, TokenSigning, tokenHead } from './token-signing.ts';

const TYP = 'client+jwt';
const HEAD = tokenHead(TYP);
const OPAQUE_KEY_BYTES = 16;

/** True if the bearer token claims to be a client token. Such a token is never taken for an API key. */
export const isClientToken = (bearer: string): boolean => bearer.startsWith(HEAD);

/** The payload, as it was signed. */
interface Payload extends Omit<ClientToken, 'integrationId' | 'expiresAt' | 'memberKey'> {
  readonly sub: string;
  readonly key: string;
  readonly jti: string;
  readonly apiIntegrationId: IntegrationId;
  /** Earlier versions did not sign it. */
  readonly memberKey?: string | null;
  /** In seconds since 1970. */
  readonly exp: number;
}

export interface ClientTokenClaims {
  readonly ownerId: string;
  /** The id of the key or of the console session that minted the token; null for `RUNWIRE_API_KEY`. */
  readonly keyId: string | null;
  readonly token: ClientToken;
}

/**
 * Client tokens are JWTs that are signed with their own key, which is derived from the installation's secret. `key` is
 * the id of the API key or of the console session, or the first bytes of the hash of `RUNWIRE_API_KEY`: a new value ends
 * the old one's tokens.
 */
export class ClientTokenSigning {
  readonly #tokens: TokenSigning;
  readonly #opaqueKey: string | null;

  constructor(secret: string, opaqueKeyHash: Buffer | null) {
    const derived = hkdfSync('sha256', secret, '', 'runwire client tokens', 32);
    this.#tokens = new TokenSigning(new Uint8Array(derived), TYP);
    this.#opaqueKey = opaqueKeyHash?.subarray(0, OPAQUE_KEY_BYTES).toString('base64url') ?? null;
  }

  /** `expiresAt` must be a whole second. */
  sign({ ownerId, key }: Principal, token: ClientToken): Promise<string> {
    const { integrationId, expiresAt, ...fields } = token;
    const payload: Payload = {
      sub: ownerId,
      key: key.keyId ?? this.#opaqueKey ?? '',
      jti: newId('tok'),
      apiIntegrationId: integrationId,
      ...fields,
      exp: expiresAt / 1000,
    };
    return this.#tokens.sign({ ...payload });
  }

  async verify(bearer: string): Promise<ClientTokenClaims | TokenProblem> {
    const verified = await this.#tokens.verify(bearer);
    if (typeof verified === 'string') return verified;
    // The signature is ours, so the fields are those of `sign`.
    const { sub, key, jti: _, apiIntegrationId, exp, memberKey = null, ...fields } = verified as unknown as Payload;
    return {
      ownerId: sub,
      keyId: key === this.#opaqueKey ? null : key,
      token: { ...fields, memberKey, integrationId: apiIntegrationId, expiresAt: exp * 1000 },
    };
  }
}
