import { createServer, type Server, type Socket } from 'node:net';
import { onLines } from '@runwire/server/testing';

export interface HeldToolCall {
  readonly callId: string;
  readonly idempotencyKey: string;
  /** The argument of this name. */
  readonly note?: string;
}

/** Holds the tool calls of `heldToolAgency` until the test lets them end. */
export class ToolController implements AsyncDisposable {
  /** Every call so far, of all runs and processes. */
  readonly calls: HeldToolCall[] = [];
  /** Called for each call when it is held. */
  onCall: ((call: HeldToolCall) => void) | null = null;
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
      onLines(socket, (line) => {
        const call = JSON.parse(line) as HeldToolCall;
        this.calls.push(call);
        this.#held.set(call.callId, socket);
        // The call's process has died.
        socket.once('close', () => {
          if (this.#held.get(call.callId) === socket) this.#held.delete(call.callId);
        });
        for (const wake of this.#wake.splice(0)) wake();
        this.onCall?.(call);
      });
    });
  }

  static async start(): Promise<ToolController> {
    const server = createServer();
    const keeper = new ToolController(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return keeper;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** The ids of the calls that are held. */
  get held(): ReadonlySet<string> {
    return new Set(this.#held.keys());
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
