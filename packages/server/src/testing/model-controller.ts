import { createServer, type Server, type Socket } from 'node:net';
import type { ModelRequest } from '../agent/ports.ts';
import type { Usage } from '../domain/model/usage.ts';
import { CallQueue } from './call-queue.ts';
import { onLines } from './lines.ts';

/** The protocol from the controller to the scripted model: one line of JSON each. */
export type ModelLine =
  | readonly ['text', string]
  | readonly ['reasoning', string]
  | readonly ['tool', string, string, string]
  | readonly ['end', Usage | null]
  | readonly ['fail', string, string];

export const SCRIPTED_USAGE: Usage = {
  requestCount: 1,
  inputTokens: 10,
  cachedTokens: 2,
  outputTokens: 5,
  reasoningTokens: 0,
};

/** One call of the model. It waits until the test answers it. */
export class ModelCall {
  readonly request: ModelRequest;
  /** When the server connected, which is before it sent the request. */
  readonly connectedAt: number;
  /** Resolves when the server has closed the connection: the call ended or was aborted, or the server died. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;

  constructor(request: ModelRequest, socket: Socket, connectedAt: number) {
    this.request = request;
    this.connectedAt = connectedAt;
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  /** Resolves when the line was written. */
  #send(line: ModelLine): Promise<void> {
    return new Promise((resolve) => this.#socket.write(`${JSON.stringify(line)}\n`, () => resolve()));
  }

  text(text: string): Promise<void> {
    return this.#send(['text', text]);
  }

  reasoning(text: string): Promise<void> {
    return this.#send(['reasoning', text]);
  }

  toolCall(callId: string, name: string, argumentsText: string): Promise<void> {
    return this.#send(['tool', callId, name, argumentsText]);
  }

  end(usage: Usage | null = SCRIPTED_USAGE): Promise<void> {
    return this.#send(['end', usage]);
  }

  fail(code: string, message: string): Promise<void> {
    return this.#send(['fail', code, message]);
  }
}

/**
 * Decides every event of every scripted model call. It runs in the test's process, so it can count and hold the
 * server calls in other processes, and it survives when such a server is killed.
 */
export class ModelController implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #queue = new CallQueue<ModelCall>();
  /** Every call so far, of all runs and processes. */
  readonly calls: ModelCall[] = [];
  onCall: ((call: ModelCall) => void) | null = null;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => this.#connected(socket));
  }

  static async start(): Promise<ModelController> {
    const server = createServer();
    const controller = new ModelController(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return controller;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  #connected(socket: Socket): void {
    const connectedAt = performance.now();
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => {});
    onLines(socket, (line) => {
      const call = new ModelCall(JSON.parse(line) as ModelRequest, socket, connectedAt);
      this.calls.push(call);
      if (this.onCall !== null) this.onCall(call);
      else this.#queue.add(call);
    });
  }

  /** Resolves to the next call that was not returned before. */
  nextCall(): Promise<ModelCall> {
    return this.#queue.nextCall();
  }

  /** From now on every call answers with these texts and ends. */
  answerAll(...texts: string[]): void {
    this.onCall = async (call) => {
      for (const text of texts) await call.text(text);
      await call.end();
    };
    for (const call of this.#queue.drain()) this.onCall(call);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
