import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP relay that can be cut: open connections are reset, and new connections wait until the relay is repaired. */
export class Relay implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections that wait until the relay is repaired. */
  #waiting: Socket[] = [];
  #isCut = false;
  #came = Promise.withResolvers<void>();
  readonly #port: number;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.#port = port;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('connection', (socket) => this.#take(socket));
  }

  static async start(targetUrl: string): Promise<Relay> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return new Relay(server, Number(new URL(targetUrl).port));
  }

  #take(socket: Socket): void {
    this.#keep(socket);
    if (this.#isCut) {
      this.#waiting.push(socket);
      this.#came.resolve();
    } else this.#join(socket);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #join(socket: Socket): void {
    const target = connect(this.#port, '127.0.0.1');
    this.#keep(target);
    socket.pipe(target).pipe(socket);
    socket.on('close', () => target.destroy());
    target.on('close', () => socket.destroy());
  }

  cut(): void {
    this.#isCut = true;
    this.#came = Promise.withResolvers();
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Resolves when a client has reconnected after the cut. */
  cameBack(): Promise<void> {
    return this.#came.promise;
  }

  mend(): void {
    this.#isCut = false;
    for (const socket of this.#waiting.splice(0)) this.#join(socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
