import { connect, createServer, type Server, type Socket } from 'node:net';
import { tie } from './tied-sockets.ts';

/**
 * Stands between a server and its PostgreSQL. Armed, it lets a `commit` through to the database, keeps its answer, and
 * cuts the connection: what a failing network does at the worst moment. Or it swallows everything and says nothing, as a
 * network does that drops what it is given.
 */
export class CommitProxy implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #armed = 0;
  #passes: (text: string) => boolean = () => true;
  #blockAfter = false;
  #blocked = false;
  #swallowed = 0;
  #hangs = false;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start(databasePort: number): Promise<CommitProxy> {
    const server = createServer({ noDelay: true });
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const proxy = new CommitProxy(server, (server.address() as { port: number }).port);
    server.on('connection', (client) => proxy.#carry(client, databasePort));
    return proxy;
  }

  /** How many answers it kept. */
  get swallowed(): number {
    return this.#swallowed;
  }

  /** From now on keeps the answer to the commit of transactions in which this was said; and then lets nobody in, where asked. */
  swallow(count: number, said: string, blockAfter: boolean): void {
    this.#armed = count;
    this.#passes = (text) => !text.includes(said);
    this.#blockAfter = blockAfter;
  }

  unblock(): void {
    this.#blocked = false;
  }

  /** Nothing comes through any more, in either direction; connections are made as ever. */
  hang(): void {
    this.#hangs = true;
  }

  /** Those that were made meanwhile or before are of no use: bytes of theirs are lost. */
  flow(): void {
    this.#hangs = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  #carry(client: Socket, databasePort: number): void {
    if (this.#blocked) {
      client.destroy();
      return;
    }
    const database = connect({ port: databasePort, host: '127.0.0.1', noDelay: true });
    let said = '';
    let swallowing = false;
    tie(client, database, this.#sockets);
    client.on('data', (bytes: Buffer) => {
      if (this.#hangs) return;
      const text = bytes.toString('latin1');
      if (text.includes('begin')) said = '';
      said += text;
      if (this.#armed > 0 && text.includes('commit\0') && !this.#passes(said)) {
        this.#armed -= 1;
        swallowing = true;
        if (this.#blockAfter) this.#blocked = true;
      }
      database.write(bytes);
    });
    database.on('data', (bytes: Buffer) => {
      if (this.#hangs) return;
      if (!swallowing) {
        client.write(bytes);
        return;
      }
      if (!bytes.toString('latin1').includes('COMMIT')) return;
      this.#swallowed += 1;
      client.destroy();
      database.destroy();
      if (this.#blockAfter) for (const socket of this.#sockets) socket.destroy();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
