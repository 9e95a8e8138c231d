import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errors } from '@runwire/contract';

import { listeningUrl } from './listening-url.ts';
import { COMPLETION_PATH, getPath } from './paths.ts';
import { RequestIds } from './request-id.ts';

/**
 * Listens while the server cannot start yet: the process is alive, but not ready. It answers 503 to every request
 * except the health check, so no completion is admitted.
 */
export class WaitingListener implements AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = listeningUrl(server);
    this.port = (server.address() as AddressInfo).port;
  }

  static async start({ host, port }: { readonly host: string; readonly port: number }): Promise<WaitingListener> {
    const { createServer } = await import('node:http');
    const requestIds = new RequestIds(randomBytes(4).toString('hex'));
    const server = createServer((request, answer) => {
      // The body is not used.
      request.resume();
      const path = getPath(request.url ?? '');
      const isHealth = path === '/healthz';
      const body = isHealth ? { status: 'ok' } : { error: errors.unavailable.sentence, code: 'unavailable' };
      answer
        .writeHead(isHealth ? 200 : errors.unavailable.status, {
          'content-type': 'application/json; charset=utf-8',
          'x-content-type-options': 'nosniff',
          'x-request-id': requestIds.of(request.headers),
          // The next request must reach the server that replaces this listener.
          connection: 'close',
          ...(isHealth ? {} : { 'retry-after': '1' }),
          ...(path === COMPLETION_PATH ? { 'x-agent-run-admitted': 'false' } : {}),
        })
        .end(JSON.stringify(body));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, resolve);
    });
    return new WaitingListener(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
