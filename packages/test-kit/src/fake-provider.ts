import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Protocol } from '@runwire/models/src/testing/provider-streams.ts';
import { CallQueue } from '@runwire/server/src/testing/call-queue.ts';
import { HttpCall } from './http-call.ts';

/** The key of a server that asks the provider. It must never be shown. */
export const PLANTED_KEY = 'sk-planted-0123456789abcdef';

/** A request to the provider. */
export class ProviderCall extends HttpCall {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read requests of three protocols.
  readonly body: any;
  /** The body as it arrived. */
  readonly text: string;

  constructor(request: IncomingMessage, body: string, response: ServerResponse) {
    super(response, { 'content-type': 'text/event-stream' });
    this.path = request.url ?? '';
    this.headers = request.headers;
    this.text = body;
    this.body = JSON.parse(body);
  }

  /** Sends pieces that end at these offsets. The network may split them further. */
  async pieces(bytes: Uint8Array, cuts: readonly number[]): Promise<void> {
    let start = 0;
    for (const end of [...cuts, bytes.length]) {
      await this.bytes(bytes.subarray(start, end));
      // Without this pause the receiver reads both pieces together.
      await new Promise((resolve) => setImmediate(resolve));
      start = end;
    }
  }

  /** The connection breaks. */
  cut(): void {
    this.response.socket?.resetAndDestroy();
  }

  /** An answer that is no stream. */
  answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.response.writeHead(status, { 'content-type': 'application/json', ...headers });
    this.response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  async stream(bytes: string | Uint8Array): Promise<void> {
    await this.bytes(bytes);
    this.end();
  }
}

/** A provider over real HTTP. It holds each call until the test sends the answer. */
export class FakeProvider implements AsyncDisposable {
  readonly #server: Server;
  readonly #queue = new CallQueue<ProviderCall>();
  /** Every call so far. */
  readonly calls: ProviderCall[] = [];
  /** Connections so far. */
  connections = 0;
  onCall: ((call: ProviderCall) => void) | null = null;

  private constructor(server: Server) {
    this.#server = server;
    server.keepAliveTimeout = 60_000;
    server.on('connection', () => {
      this.connections += 1;
    });
    server.on('request', (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => this.#take(new ProviderCall(request, Buffer.concat(parts).toString(), response)));
    });
  }

  static async start(): Promise<FakeProvider> {
    const server = createServer();
    const provider = new FakeProvider(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  /** What `OPENAI_BASE_URL` is set to. */
  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** What a server's process must be given to ask this provider. */
  env(protocol: Protocol): Readonly<Record<string, string>> {
    if (protocol === 'messages') {
      return {
        ANTHROPIC_API_KEY: PLANTED_KEY,
        ANTHROPIC_BASE_URL: this.baseUrl,
        RUNWIRE_MODEL: 'anthropic/some-model',
      };
    }
    return {
      OPENAI_API_KEY: PLANTED_KEY,
      OPENAI_BASE_URL: this.baseUrl,
      RUNWIRE_MODEL: 'openai/some-model',
      RUNWIRE_OPENAI_API: protocol,
    };
  }

  #take(call: ProviderCall): void {
    this.calls.push(call);
    if (this.onCall !== null) this.onCall(call);
    else this.#queue.add(call);
  }

  /** Resolves to the next call that was not returned before. */
  nextCall(): Promise<ProviderCall> {
    return this.#queue.nextCall();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
