import { connect, createServer, type Server, type Socket } from 'node:net';
import { closeTogether } from '@runwire/test-kit';

/**
 * Stands between a server and its PostgreSQL and takes away what makes the server safe, byte for byte as long as it was:
 * a fault that needs no switch in the product. Transactions do not lock their node's row, and may stand still for ever.
 */
export class LocklessProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #target: URL;

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = target;
    server.on('connection', (client) => this.#carry(client));
  }

  static async start(databaseUrl: string): Promise<LocklessProxy> {
    const server = createServer({ noDelay: true });
    const proxy = new LocklessProxy(server, new URL(databaseUrl));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    const url = new URL(this.#target);
    url.port = String((this.#server.address() as { port: number }).port);
    return url.href;
  }

  #carry(client: Socket): void {
    const database = connect({ port: Number(this.#target.port), host: this.#target.hostname, noDelay: true });
    closeTogether(client, database, this.#sockets);
    client.on('data', (bytes: Buffer) => database.write(weakened(bytes)));
    database.on('data', (bytes: Buffer) => client.write(bytes));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function weakened(bytes: Buffer): Buffer {
  const text = bytes
    .toString('latin1')
    .replaceAll(' for share', ' '.repeat(10))
    .replaceAll('idle_in_transaction_session_timeout\x003000\x00', 'idle_in_transaction_session_timeout\x000000\x00');
  return Buffer.from(text, 'latin1');
}
