import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests from their first byte of head to the close of their answer, streams included. */
export class OpenRequests {
  readonly #connections = new Set<Socket>();
  readonly #answers = new Set<ServerResponse>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
    });
    server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
      this.#answers.add(response);
      response.once('close', () => this.#answers.delete(response));
    });
  }

  get count(): number {
    return this.#answers.size;
  }

  /**
   * Closes the connections that are kept from an earlier answer. Node's own `closeIdleConnections` also closes those on
   * which a request is on its way and not read yet, whose caller then gets no answer at all, and those whose last answer
   * is ended but not taken yet.
   */
  closeIdleConnections(): void {
    const busy = new Set([...this.#answers].map(({ req }) => req.socket));
    for (const socket of this.#connections) if (socket.bytesWritten > 0 && !busy.has(socket)) socket.destroy();
  }
}
