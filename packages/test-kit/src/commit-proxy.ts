import { connect, createServer, type Server, type Socket } from 'node:net';
import { closeTogether } from './close-together.ts';

/** What happens to the next COMMIT of a transaction that `matches`. */
interface Interruption {
  /** Gets the transaction's bytes so far, which include its statements' names. */
  readonly matches: (sql: string) => boolean;
  /** `before`: the database never gets the COMMIT. `after`: it commits, and the server does not get the answer. */
  readonly moment: 'before' | 'after';
  /** Runs while no connection is accepted. */
  readonly crash: () => Promise<void>;
}

/**
 * Connects a server to its PostgreSQL and fails in the middle of a commit. It can keep the answer to a COMMIT and cut the
 * connection; crash the database instead of forwarding a COMMIT, or after it; or drop everything in both directions.
 */
export class CommitProxy implements AsyncDisposable {
  readonly port: number;
  /** Every connection's first bytes: its user, its database and its options. */
  readonly startups: string[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #armed = 0;
  #passes: (text: string) => boolean = () => true;
  #blockAfter = false;
  #blocked = false;
  #swallowed = 0;
  #hangs = false;
  #blockAt: string | null = null;
  #hangAfter: { readonly sql: string; readonly reached: () => void } | null = null;
  #interrupt: ((sql: string, moment: Interruption['moment'], client: Socket) => boolean) | null = null;

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

  /** The number of answers that were held back. */
  get swallowed(): number {
    return this.#swallowed;
  }

  /**
   * From now on holds back the answer to the commit of a transaction that contained this text. If asked to, it then
   * refuses new connections.
   */
  swallow(count: number, sql: string, blockAfter: boolean): void {
    this.#armed = count;
    this.#passes = (text) => !text.includes(sql);
    this.#blockAfter = blockAfter;
  }

  /** As soon as a client sends this text, all connections are cut and none is accepted, until `unblock`. */
  blockAt(sql: string): void {
    this.#blockAt = sql;
  }

  /** Resolves after the crash, when connections are accepted again. */
  interrupt({ matches, moment: wanted, crash }: Interruption): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const run = async () => {
      this.#blocked = true;
      try {
        await crash();
      } finally {
        this.#blocked = false;
      }
    };
    this.#interrupt = (sql, moment, client) => {
      if (moment !== wanted || !matches(sql)) return false;
      this.#interrupt = null;
      run()
        .finally(() => client.destroy())
        .then(resolve, reject);
      return true;
    };
    return promise;
  }

  unblock(): void {
    this.#blocked = false;
  }

  /** From now on no byte is forwarded in either direction; connections are still accepted. */
  hang(): void {
    this.#hangs = true;
  }

  /** Forwards the first bytes that contain this text, and hangs then. Resolves when it does. */
  hangAfter(sql: string): Promise<void> {
    return new Promise((resolve) => {
      this.#hangAfter = { sql, reached: resolve };
    });
  }

  /** Forwards again. Closes all existing connections, because some of their bytes are lost. */
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
    let sql = '';
    let swallowing = false;
    let isCommitting = false;
    let isInterrupted = false;
    closeTogether(client, database, this.#sockets);
    client.once('data', (bytes: Buffer) => this.startups.push(bytes.toString('latin1')));
    client.on('data', (bytes: Buffer) => {
      if (this.#hangs || isInterrupted) return;
      const text = bytes.toString('latin1');
      if (this.#blockAt !== null && text.includes(this.#blockAt)) {
        this.#blockAt = null;
        this.#blocked = true;
        for (const socket of this.#sockets) socket.destroy();
        return;
      }
      if (text.includes('begin')) sql = '';
      sql += text;
      isCommitting = text.includes('commit\0');
      isInterrupted = isCommitting && this.#interrupt?.(sql, 'before', client) === true;
      if (isInterrupted) return;
      if (this.#armed > 0 && text.includes('commit\0') && !this.#passes(sql)) {
        this.#armed -= 1;
        swallowing = true;
        if (this.#blockAfter) this.#blocked = true;
      }
      database.write(bytes);
      if (this.#hangAfter === null || !text.includes(this.#hangAfter.sql)) return;
      this.#hangs = true;
      this.#hangAfter.reached();
      this.#hangAfter = null;
    });
    database.on('data', (bytes: Buffer) => {
      if (this.#hangs || isInterrupted) return;
      if (isCommitting && bytes.toString('latin1').includes('COMMIT')) {
        isInterrupted = this.#interrupt?.(sql, 'after', client) === true;
        if (isInterrupted) return;
      }
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
