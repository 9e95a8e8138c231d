import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Counts requests from their first byte of head to the close of their answer, streams included. */
export class OpenRequests {
  #count = 0;

  constructor(server: Server) {
    const closed = () => {
      this.#count -= 1;
    };
    server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
      this.#count += 1;
      response.once('close', closed);
    });
  }

  get count(): number {
    return this.#count;
  }
}
