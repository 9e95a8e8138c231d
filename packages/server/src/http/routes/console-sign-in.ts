import type { Range } from '@runwire/guarded-fetch/url-rules';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Sessions } from '../../accounts/sessions.ts';
import type { SignIn } from '../../accounts/sign-in.ts';
import { clientAddress } from '../client-address.ts';
import { requireSameOrigin } from '../same-origin.ts';
import { SessionCookie } from '../session-cookie.ts';

export interface ConsoleSignInDeps {
  readonly signIn: SignIn;
  readonly sessions: Sessions;
  readonly publicUrl: string | null;
  readonly trustedProxies: readonly Range[];
}

/** Callers without a key may send these bodies. The longest has two passwords of 1024 escaped characters. */
const BODY_BYTES = 32 * 1024;

const email = { type: 'string', format: 'email', maxLength: 254 };
const text = { type: 'string', minLength: 1 };

function getBody<const Name extends string>(properties: Readonly<Record<Name, object>>) {
  return { type: 'object', additionalProperties: false, required: Object.keys(properties), properties };
}

type Handler<B> = (request: FastifyRequest & { readonly body: B }, reply: FastifyReply) => Promise<unknown>;

/**
 * The operations with which pages of the console sign people in. They are not part of the API: they have no description
 * in OpenAPI, they take a cookie, and they accept only requests of pages of this server.
 */
export function consoleSignIn(app: FastifyInstance, deps: ConsoleSignInDeps): void {
  const { signIn, sessions, publicUrl, trustedProxies } = deps;
  const cookie = new SessionCookie(publicUrl);
  const getAddress = ({ raw, headers }: Pick<FastifyRequest, 'raw' | 'headers'>) =>
    clientAddress(raw.socket.remoteAddress, headers['x-forwarded-for'], trustedProxies);

  function post<B = unknown>(path: string, body: object, handler: Handler<B>): void {
    app.route({
      method: 'POST',
      url: `/console/${path}`,
      schema: { hide: true, body },
      bodyLimit: BODY_BYTES,
      onRequest: async (request, reply) => {
        requireSameOrigin(request, publicUrl);
        reply.header('cache-control', 'no-store');
      },
      preValidation: async (request) => {
        // A missing body counts as an empty object.
        if (request.body === undefined) request.body = {};
      },
      handler: (request, reply) => handler(request as FastifyRequest & { readonly body: B }, reply),
    });
  }

  post<{ email: string; password: string }>('sign_in', getBody({ email, password: text }), async (request, reply) => {
    const secret = await signIn.signIn(request.body, getAddress(request));
    return cookie.set(reply, secret).code(204).send();
  });

  post<{ link: string; email: string; password: string }>(
    'set_up',
    getBody({ link: text, email, password: text }),
    async (request, reply) =>
      cookie
        .set(reply, await signIn.setUp(request.body))
        .code(204)
        .send(),
  );

  post<{ current: string; new: string }>('password', getBody({ current: text, new: text }), async (request, reply) => {
    await signIn.changePassword(cookie.read(request), request.body, getAddress(request));
    return reply.code(204).send();
  });

  post('token', getBody({}), async (request) => sessions.token(cookie.read(request)));

  post('sign_out', getBody({}), async (request, reply) => {
    await sessions.end(cookie.read(request));
    return cookie.clear(reply).code(204).send();
  });

  post('sign_out_everywhere', getBody({}), async (request, reply) => {
    await sessions.endAll(cookie.read(request));
    return cookie.clear(reply).code(204).send();
  });
}
