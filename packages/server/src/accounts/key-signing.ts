import { isCallerId } from '../domain/ids.ts';
import { type TokenProblem, TokenSigning } from './token-signing.ts';

export interface KeyClaims {
  readonly ownerId: string;
  readonly keyId: string;
}

/** API keys are JWTs signed with the installation's secret: `sub` is the owner, `jti` the key's id. */
export class KeySigning {
  readonly #tokens: TokenSigning;

  constructor(secret: string) {
    this.#tokens = new TokenSigning(new TextEncoder().encode(secret), 'JWT');
  }

  sign({ ownerId, keyId }: KeyClaims, issuedAt: number, expiresAt: number | null): Promise<string> {
    const expiry = expiresAt === null ? {} : { exp: Math.ceil(expiresAt / 1000) };
    return this.#tokens.sign({ sub: ownerId, jti: keyId, iat: Math.floor(issuedAt / 1000), ...expiry });
  }

  /** Returns the claims of a key that this installation signed, or why the token is not such a key. */
  async verify(token: string): Promise<KeyClaims | TokenProblem> {
    const payload = await this.#tokens.verify(token);
    if (typeof payload === 'string') return payload;
    const { sub, jti } = payload;
    return isId(sub) && isId(jti) ? { ownerId: sub, keyId: jti } : 'invalid';
  }
}

/** A claim can be any JSON value. The store accepts only text that it can compare. */
function isId(claim: unknown): claim is string {
  return typeof claim === 'string' && isCallerId(claim) && claim.isWellFormed();
}
