import type { JWTPayload } from 'jose';

/** Loaded when a token is first signed or verified: a start does not need it if `RUNWIRE_API_KEY` is set. */
const jose = () => import('jose');

/** A wrong signature is also `invalid`, so that its sender learns nothing more. */
export type TokenProblem = 'malformed' | 'expired' | 'invalid';

/** Every token of a kind begins with this text, because its header is always the same. */
export const tokenHead = (typ: string): string =>
  `${Buffer.from(JSON.stringify({ alg: 'HS256', typ })).toString('base64url')}.`;

/** Signs and verifies the JWTs of one kind. The kind is the `typ` of the header. */
export class TokenSigning {
  readonly #key: Uint8Array;
  readonly #typ: string;

  constructor(key: Uint8Array, typ: string) {
    this.#key = key;
    this.#typ = typ;
  }

  /** Times in the payload are seconds since 1970. */
  async sign(payload: JWTPayload): Promise<string> {
    const { SignJWT } = await jose();
    return new SignJWT(payload).setProtectedHeader({ alg: 'HS256', typ: this.#typ }).sign(this.#key);
  }

  /** Returns the payload of a token that was signed here, or why the token is refused. */
  async verify(token: string): Promise<JWTPayload | TokenProblem> {
    if (!LOOKS_LIKE_JWT.test(token)) return 'malformed';
    const { errors, jwtVerify } = await jose();
    try {
      // Without the check of `typ`, a token that the installation signs for another purpose would be accepted.
      const { payload } = await jwtVerify(token, this.#key, { algorithms: ['HS256'], typ: this.#typ });
      return payload;
    } catch (error) {
      // `exp` is checked after the signature, so `expired` is reported only for a token of ours.
      return error instanceof errors.JWTExpired ? 'expired' : 'invalid';
    }
  }
}

const LOOKS_LIKE_JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
