import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Requests from their first byte of head to the close of their answer, streams included. */
export class OpenRequests {
  readonly #server: Server;
  readonly #answers = new Set<ServerResponse>();

  constructor(server: Server) {
    this.#server = server;
    server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
      this.#answers.add(response);
      response.once('close', () => this.#answers.delete(response));
    });
  }

  get count(): number {
    return this.#answers.size;
  }

  /**
   * Closes the connections on which nothing is asked or answered. To Node an answer is over when its end was written,
   * also where its reader has not taken it yet, and it would be cut: so not before all such answers have left.
   */
  closeIdleConnections(): void {
    for (const answer of this.#answers) if (answer.writableEnded) return;
    this.#server.closeIdleConnections();
  }
}
