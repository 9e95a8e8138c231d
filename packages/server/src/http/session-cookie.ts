import type { FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_MS } from '../accounts/session-life.ts';
import { publicPath } from './public-path.ts';

const NAME = 'runwire_session';

/** A session's cookie. Only the operations below `/console/` read it. */
export class SessionCookie {
  readonly #attributes: string;

  constructor(publicUrl: string | null) {
    const secure = URL.parse(publicUrl ?? '')?.protocol === 'https:' ? '; Secure' : '';
    this.#attributes = `Path=${publicPath(publicUrl)}/console/; HttpOnly; SameSite=Strict${secure}`;
  }

  set(reply: FastifyReply, secret: string): FastifyReply {
    return reply.header('set-cookie', `${NAME}=${secret}; Max-Age=${SESSION_MS / 1000}; ${this.#attributes}`);
  }

  clear(reply: FastifyReply): FastifyReply {
    return reply.header('set-cookie', `${NAME}=; Max-Age=0; ${this.#attributes}`);
  }

  /**
   * Returns null if the request has no such cookie, or several: then another site of the same domain has set one, and
   * could make a person work in the session of a stranger.
   */
  read({ headers }: Pick<FastifyRequest, 'headers'>): string | null {
    const values = (headers.cookie?.split(';') ?? []).flatMap((part) => {
      const [name = '', ...value] = part.split('=');
      return name.trim() === NAME ? [value.join('=').trim()] : [];
    });
    return values.length === 1 ? (values[0] ?? null) : null;
  }
}
