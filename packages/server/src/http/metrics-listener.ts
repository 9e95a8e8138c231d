import type { Server } from 'node:http';
import { errors } from '@runwire/contract';
import { StartRefused } from '../domain/start-refused.ts';
import { listeningUrl } from './listening-url.ts';
import { getPath } from './paths.ts';
import type { RequestIds } from './request-id.ts';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface MetricsListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly metrics: () => string;
  readonly requestIds: RequestIds;
}

/**
 * Serves `/metrics` without a key, on a listener of its own, and nothing else. It reads neither the store nor a key, so it
 * also works while the database cannot be reached and keys cannot be checked.
 */
export class MetricsListener implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = listeningUrl(server);
  }

  static async start({ host, port, metrics, requestIds }: MetricsListenerOptions): Promise<MetricsListener> {
    // Imported here, because `node:http` as a module also loads a client, which takes 70 ms of CPU at start.
    const { createServer } = await import('node:http');
    const server = createServer((request, answer) => {
      // The body, if there is one, is not used.
      request.resume();
      answer.setHeader('x-content-type-options', 'nosniff');
      answer.setHeader('x-request-id', requestIds.of(request.headers));
      if (request.method === 'GET' && getPath(request.url ?? '') === '/metrics') {
        answer.writeHead(200, { 'content-type': METRICS_TYPE }).end(metrics());
        return;
      }
      const body = JSON.stringify({ error: errors.not_found.sentence, code: 'not_found' });
      answer.writeHead(404, { 'content-type': 'application/json; charset=utf-8' }).end(body);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        const remedy = 'set RUNWIRE_METRICS_PORT and RUNWIRE_METRICS_HOST to a free address of this machine';
        reject(new StartRefused(`The metrics listener cannot start (${error.message}); ${remedy}.`));
      });
      server.listen({ host, port }, resolve);
    });
    return new MetricsListener(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
