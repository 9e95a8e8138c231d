import type { IncomingMessage, Server } from 'node:http';
import { Sessions } from '@runwire/server/src/accounts/sessions.ts';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';

/** A request with the cookie of a session counts as one with a token of that session. */
function cookieIsKey(): Overrides {
  const tokens = new Map<string | null, string>();
  const { token } = Sessions.prototype;
  Sessions.prototype.token = async function (this: Sessions, secret) {
    const made = await token.call(this, secret);
    tokens.set(secret, made.token);
    return made;
  };
  const { Server: HttpServer } = process.getBuiltinModule('node:http');
  const { emit } = HttpServer.prototype;
  HttpServer.prototype.emit = function (this: Server, event: string, ...args: unknown[]) {
    if (event === 'request') addKey(args[0] as IncomingMessage, tokens);
    return emit.call(this, event, ...args);
  };
  return {};
}

function addKey({ headers }: IncomingMessage, tokens: ReadonlyMap<string | null, string>): void {
  const [, secret = ''] = /runwire_session=([^;]*)/.exec(headers.cookie ?? '') ?? [];
  const token = tokens.get(secret);
  if (token !== undefined) headers.authorization ??= `Bearer ${token}`;
}

export const SIGN_IN_FAULTS = { 'cookie-is-key': cookieIsKey };
