import { hkdfSync } from 'node:crypto';
import { type TokenProblem, TokenSigning, tokenHead } from './token-signing.ts';

const TYP = 'console+jwt';
const HEAD = tokenHead(TYP);

/** True if the bearer token claims to be a console token. Such a token is never taken for an API key. */
export const isConsoleToken = (bearer: string): boolean => bearer.startsWith(HEAD);

export interface ConsoleTokenClaims {
  readonly ownerId: string;
  readonly sessionId: string;
  /** In milliseconds since 1970, a whole second. */
  readonly expiresAt: number;
}

/** Console tokens are JWTs that are signed with their own key, which is derived from the installation's secret. */
export class ConsoleTokenSigning {
  readonly #tokens: TokenSigning;

  constructor(secret: string) {
    const derived = hkdfSync('sha256', secret, '', 'runwire console tokens', 32);
    this.#tokens = new TokenSigning(new Uint8Array(derived), TYP);
  }

  sign({ ownerId, sessionId, expiresAt }: ConsoleTokenClaims): Promise<string> {
    return this.#tokens.sign({ sub: ownerId, sid: sessionId, exp: expiresAt / 1000 });
  }

  async verify(bearer: string): Promise<ConsoleTokenClaims | TokenProblem> {
    const verified = await this.#tokens.verify(bearer);
    if (typeof verified === 'string') return verified;
    // The signature is ours, so the fields are those of `sign`.
    const { sub, sid, exp } = verified as { readonly sub: string; readonly sid: string; readonly exp: number };
    return { ownerId: sub, sessionId: sid, expiresAt: exp * 1000 };
  }
}
