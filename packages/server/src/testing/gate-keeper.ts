import { createServer, type Server, type Socket } from 'node:net';
import { onLines } from './lines.ts';

/** Holds the calls of the tool `gate` until they are told to go on. */
export class GateKeeper implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #held = new Map<string, Socket>();
  #wake: (() => void)[] = [];

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => {});
      onLines(socket, (callId) => {
        this.#held.set(callId, socket);
        for (const wake of this.#wake.splice(0)) wake();
      });
    });
  }

  static async start(): Promise<GateKeeper> {
    const server = createServer();
    const keeper = new GateKeeper(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return keeper;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Resolves when the call is held. */
  async holds(callId: string): Promise<void> {
    while (!this.#held.has(callId)) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Lets a held call end with this output. */
  open(callId: string, output: string): void {
    this.#held.get(callId)?.write(`${output}\n`);
    this.#held.delete(callId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
