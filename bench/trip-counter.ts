import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Without a delay, the answer to the first statement of a trip sometimes arrives before the second statement is sent.
 */
export const ANSWER_DELAY_MS = 3;

/**
 * A proxy between servers and PostgreSQL that counts round trips: each time a connection sends after it was answered.
 * Everything that it sends before the answer belongs to the same trip. The proxy costs time, so nothing else is
 * measured through it.
 */
export class TripCounter implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #trips = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as { port: number }).port;
  }

  static async start(databasePort: number): Promise<TripCounter> {
    const server = createServer({ noDelay: true }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const counter = new TripCounter(server);
    server.on('connection', (client) => counter.#carry(client, databasePort));
    return counter;
  }

  get trips(): number {
    return this.#trips;
  }

  /** Returns the URL of the same database through this proxy. */
  url(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.port = String(this.port);
    return url.href;
  }

  #carry(client: Socket, databasePort: number): void {
    const database = connect({ port: databasePort, host: '127.0.0.1', noDelay: true });
    let answered = true;
    client.on('data', (bytes) => {
      if (answered) this.#trips += 1;
      answered = false;
      database.write(bytes);
    });
    // Timers with the same delay fire in the order in which they were set.
    database.on('data', (bytes) => {
      setTimeout(() => {
        answered = true;
        client.write(bytes);
      }, ANSWER_DELAY_MS);
    });
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
