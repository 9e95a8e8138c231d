import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** What happens to one request. Bytes are counted on the wire, headers included. */
export type Fault =
  | { readonly kind: 'refuse' }
  /** The server gets only the request's first bytes. */
  | { readonly kind: 'cut-request'; readonly afterBytes: number }
  /** The client gets only the answer's first bytes; `clean` closes the connection as after a whole answer. */
  | { readonly kind: 'cut-answer'; readonly afterBytes: number; readonly clean?: boolean }
  /** The proxy answers 502 itself. `late`: after the server has the request. */
  | { readonly kind: 'bad-gateway'; readonly late: boolean }
  /** The same with this answer: the whole text of an HTTP message. */
  | { readonly kind: 'answer'; readonly text: string; readonly late: boolean }
  /** After these bytes of the answer nothing arrives, and the connection stays open. */
  | { readonly kind: 'silence'; readonly afterBytes: number }
  /** Every byte of the answer arrives in a piece of its own. */
  | { readonly kind: 'drip' };

export type FaultKind = Fault['kind'];

export interface ProxiedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Decides what happens to a request; null lets it pass. */
export type FaultPlan = (request: ProxiedRequest) => Fault | null;

const PAGE = '<h1>502 at a proxy</h1>';
const BAD_GATEWAY = [
  'HTTP/1.1 502 Bad Gateway',
  'Content-Type: text/html',
  `Content-Length: ${PAGE.length}`,
  'Connection: close',
  '',
  PAGE,
].join('\r\n');
const HOP_BY_HOP = /^(connection|keep-alive|transfer-encoding)$/i;

/**
 * An HTTP proxy that disturbs requests. It forwards an answer's bytes in their order and closes the connection after
 * each answer, so that a plan decides about every request.
 */
export class FaultyProxy implements AsyncDisposable {
  /** The server to which requests are passed on; it may change. While nothing listens there, the proxy answers 502. */
  targetUrl: string;
  plan: FaultPlan = () => null;
  /** Called when a planned fault has happened. Not called if the answer was too short for it. */
  onFault: (request: ProxiedRequest, kind: FaultKind) => void = () => {};
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, targetUrl: string) {
    this.#server = server;
    this.targetUrl = targetUrl;
    server.on('connection', (socket: Socket) => this.#keep(socket));
    server.on('request', (message) => void this.#take(message));
  }

  static async start(targetUrl: string): Promise<FaultyProxy> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve);
    });
    return new FaultyProxy(server, targetUrl);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }

  async #take(message: IncomingMessage): Promise<void> {
    const { socket: client } = message;
    const pieces: Buffer[] = [];
    try {
      for await (const piece of message) pieces.push(piece);
    } catch {
      client.destroy();
      return;
    }
    const { method = '', url: path = '', headers } = message;
    const request = { method, path, headers, body: Buffer.concat(pieces) };
    const fault = this.plan(request);
    const happened = () => {
      if (fault !== null) this.onFault(request, fault.kind);
    };
    if (fault?.kind === 'refuse' || (fault !== null && 'late' in fault && !fault.late)) {
      happened();
      if (fault.kind === 'refuse') client.resetAndDestroy();
      else client.end(fault.kind === 'answer' ? fault.text : BAD_GATEWAY);
      return;
    }
    this.#forward(client, toBytes(message, request.body), fault, happened);
  }

  #forward(client: Socket, bytes: Buffer, fault: Fault | null, happened: () => void): void {
    const { hostname, port } = new URL(this.targetUrl);
    const server = connect(Number(port), hostname);
    this.#keep(server);
    client.on('close', () => server.destroy());
    server.on('error', () => {
      if (server.bytesRead === 0) client.end(BAD_GATEWAY);
      else client.resetAndDestroy();
    });
    if (fault?.kind === 'cut-request') {
      happened();
      server.write(bytes.subarray(0, fault.afterBytes), () => {
        server.destroy();
        client.resetAndDestroy();
      });
      return;
    }
    server.write(bytes);
    if (fault !== null && 'late' in fault) {
      server.once('data', () => {
        happened();
        client.end(fault.kind === 'answer' ? fault.text : BAD_GATEWAY);
        server.destroy();
      });
      return;
    }
    this.#passOn(server, client, fault, happened);
  }

  /** Passes the answer on, up to the byte at which it is disturbed. */
  #passOn(server: Socket, client: Socket, fault: Fault | null, happened: () => void): void {
    if (fault === null) {
      server.pipe(client);
      return;
    }
    let left = 'afterBytes' in fault ? fault.afterBytes : Number.POSITIVE_INFINITY;
    server.on('data', (piece: Buffer) => {
      if (left < 0) return;
      const passed = piece.subarray(0, Math.min(left, piece.length));
      left -= piece.length;
      if (fault.kind === 'drip') for (const byte of passed) client.write(Buffer.from([byte]));
      else if (passed.length > 0) client.write(passed);
      if (left >= 0) return;
      happened();
      if (fault.kind === 'silence') server.pause();
      else if (fault.kind === 'cut-answer' && fault.clean === true) client.end();
      // What was written before arrives: a reset alone would discard it.
      else client.write('', () => setImmediate(() => client.resetAndDestroy()));
    });
    server.on('end', () => {
      if (fault.kind === 'drip') happened();
      if (left >= 0) client.end();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** The request as the server gets it: the same headers, one request per connection. */
function toBytes({ method, url, rawHeaders }: IncomingMessage, body: Buffer): Buffer {
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!HOP_BY_HOP.test(name) && !/^content-length$/i.test(name)) lines.push(`${name}: ${rawHeaders[index + 1]}`);
  }
  if (body.length > 0) lines.push(`Content-Length: ${body.length}`);
  return Buffer.concat([Buffer.from(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}
