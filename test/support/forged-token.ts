import { createHmac, hkdfSync } from 'node:crypto';

/** The key with which a server with this secret signs client tokens. */
export const clientTokenKey = (secret: string) =>
  Buffer.from(hkdfSync('sha256', secret, '', 'runwire client tokens', 32));

/** Signs a payload as the server does, with any header and any key. */
export function forgedToken(payload: object, typ: string, key: string | Buffer): string {
  const parts = [{ alg: 'HS256', typ }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const signature = createHmac('sha256', key).update(parts.join('.')).digest('base64url');
  return [...parts, signature].join('.');
}

/** The header (0) or the payload (1) of a token. */
export const toPart = (token: string, index: 0 | 1) =>
  JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString());
