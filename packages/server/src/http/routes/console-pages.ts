import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ConsoleFiles } from '../console/console-files.ts';
import { acceptedEncoding } from '../content-encoding.ts';
import { matchesEtag } from '../file-conditions.ts';

export interface ConsolePagesDeps {
  /** The built files' folder. */
  readonly folder: string;
  /** The origin that signed upload forms are sent to; null if it is this server. */
  readonly uploadOrigin: string | null;
}

/**
 * Serves the console's built files. They are not part of the API: anyone may read them, and no request for them reads
 * a key or a cookie.
 */
export function consolePages(app: FastifyInstance, { folder, uploadOrigin }: ConsolePagesDeps): void {
  const files = new ConsoleFiles(folder);
  const policy = consolePolicy(uploadOrigin);

  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = pathBelowConsole(request.url);
    // Relative: the browser knows the path that a proxy may have removed.
    if (path === null) return reply.redirect('console/');
    const file = await files.at(path);
    reply.headers({
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
      'cache-control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      etag: file.etag,
    });
    if (file.isText) reply.header('vary', 'Accept-Encoding');
    if (matchesEtag(request.headers['if-none-match'], file.etag)) return reply.code(304).send();
    const encoding = file.isText ? acceptedEncoding(request.headers['accept-encoding']) : null;
    if (encoding !== null) reply.header('content-encoding', encoding);
    return reply.type(file.type).send(await file.bytes(encoding));
  };
  for (const url of ['/console', '/console/*']) {
    app.route({ method: ['GET', 'HEAD'], url, schema: { hide: true }, handler: serve });
  }
}

/**
 * Returns null at `/console` itself. The path stays as it was sent: the browser counts its slashes in the same way when it
 * resolves the page's base.
 */
function pathBelowConsole(url: string): string | null {
  const [path = ''] = url.split(/[?#]/, 1);
  const [, , ...levels] = path.split('/');
  return levels.length === 0 ? null : levels.join('/');
}

/** The page runs its own scripts only, sends requests to this server only, and never turns text into markup. */
function consolePolicy(uploadOrigin: string | null): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "font-src 'self'",
    ["connect-src 'self'", ...(uploadOrigin === null ? [] : [uploadOrigin])].join(' '),
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
