import { isCallerId } from '../domain/ids.ts';

/** Loaded when a key is first signed or verified: a start does not need it if `RUNWIRE_API_KEY` is set. */
const jose = () => import('jose');

/** A wrong signature is also `invalid`, so that its sender learns nothing more. */
export type KeyProblem = 'malformed' | 'expired' | 'revoked' | 'invalid';

export interface KeyClaims {
  readonly ownerId: string;
  readonly keyId: string;
}

/** API keys are JWTs signed with the secret of the installation: `sub` is the owner, `jti` the id of the key. */
export class KeySigning {
  readonly #secret: Uint8Array;

  constructor(secret: string) {
    this.#secret = new TextEncoder().encode(secret);
  }

  async sign(claims: KeyClaims, issuedAt: number, expiresAt: number | null): Promise<string> {
    const { SignJWT } = await jose();
    const token = new SignJWT()
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setSubject(claims.ownerId)
      .setJti(claims.keyId)
      .setIssuedAt(Math.floor(issuedAt / 1000));
    if (expiresAt !== null) token.setExpirationTime(Math.ceil(expiresAt / 1000));
    return token.sign(this.#secret);
  }

  /** Returns the claims of a key that this installation signed, or why the token is not such a key. */
  async verify(token: string): Promise<KeyClaims | KeyProblem> {
    if (!LOOKS_LIKE_JWT.test(token)) return 'malformed';
    const { errors, jwtVerify } = await jose();
    try {
      // Without the check of `typ`, tokens that the installation signs for another purpose would be keys.
      const { payload } = await jwtVerify(token, this.#secret, { algorithms: ['HS256'], typ: 'JWT' });
      const { sub, jti } = payload;
      return isId(sub) && isId(jti) ? { ownerId: sub, keyId: jti } : 'invalid';
    } catch (error) {
      // `exp` is checked after the signature, so `expired` is reported only for a token of ours.
      return error instanceof errors.JWTExpired ? 'expired' : 'invalid';
    }
  }
}

const LOOKS_LIKE_JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** A claim can be any JSON value. The store accepts only text that it can compare. */
function isId(claim: unknown): claim is string {
  return typeof claim === 'string' && isCallerId(claim) && claim.isWellFormed();
}
