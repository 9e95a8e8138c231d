/** Loaded when a key is first signed or verified: a start has no use for it where `RUNWIRE_API_KEY` is set. */
const jose = () => import('jose');

export interface KeyClaims {
  readonly ownerId: string;
  readonly keyId: string;
}

/** API keys are JWTs, signed with the installation's own secret: `sub` the owner, `jti` the key's id. */
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

  /** Null for anything but a token of ours: another signature, another algorithm, expired, not a JWT at all. */
  async verify(token: string): Promise<KeyClaims | null> {
    const { jwtVerify } = await jose();
    try {
      const { payload } = await jwtVerify(token, this.#secret, { algorithms: ['HS256'] });
      if (payload.sub === undefined || payload.jti === undefined) return null;
      return { ownerId: payload.sub, keyId: payload.jti };
    } catch {
      return null;
    }
  }
}
