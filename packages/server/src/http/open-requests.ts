import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { CellSet } from '@runwire/lib/cells.ts';

/** Counts requests from the first byte of the head to the answer's close, streams included. */
export class OpenRequests {
  readonly #connections = new Set<Socket>();
  readonly #answers = new CellSet<ServerResponse>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
    });
    server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
      const cell = this.#answers.add(response);
      response.once('close', () => this.#answers.delete(cell));
    });
  }

  get count(): number {
    return this.#answers.size;
  }

  /**
   * Closes idle connections that are kept after an earlier answer. Node's `closeIdleConnections` also closes
   * connections with a request that has arrived but was not read yet, whose caller would get no answer, and connections
   * whose last answer has ended but was not read yet.
   */
  closeIdleConnections(): void {
    const busy = new Set([...this.#answers].map(({ req }) => req.socket));
    for (const socket of this.#connections) if (socket.bytesWritten > 0 && !busy.has(socket)) socket.destroy();
  }
}
