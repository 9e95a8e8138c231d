import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** What happens to one connection. The number of bytes is counted on the wire, headers included. */
export type Disturbance =
  | { readonly kind: 'refuse' }
  /** The server gets only the request's first bytes. */
  | { readonly kind: 'cut-request'; readonly bytes: number }
  /** The client gets only the answer's first bytes. */
  | { readonly kind: 'cut-answer'; readonly bytes: number }
  /** After the first bytes of the answer nothing arrives any more, and the connection stays open. */
  | { readonly kind: 'fall-silent'; readonly bytes: number }
  /** The relay answers 502 itself. The server may have got the request. */
  | { readonly kind: 'bad-gateway'; readonly isPassedOn: boolean };

const BAD_GATEWAY = 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\nConnection: close\r\n\r\n502';

/** A TCP relay before a server that disturbs connections by a plan. Bytes keep their order. */
export class DisturbingRelay implements AsyncDisposable {
  readonly url: string;
  /** Bytes of the newest connection, for a plan that cuts every byte. */
  last = { requestBytes: 0, answerBytes: 0 };
  /** The disturbances that took effect. */
  readonly done: Disturbance[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #port: () => number;
  readonly #plan: () => Disturbance | null;

  private constructor(server: Server, port: () => number, plan: () => Disturbance | null) {
    this.#server = server;
    this.#port = port;
    this.#plan = plan;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('connection', (socket) => this.#take(socket));
  }

  /** `port` is asked for each connection, because a server that starts again has another one. */
  static async start(port: () => number, plan: () => Disturbance | null): Promise<DisturbingRelay> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return new DisturbingRelay(server, port, plan);
  }

  #take(client: Socket): void {
    const disturbance = this.#plan();
    this.#keep(client);
    if (disturbance?.kind === 'refuse') {
      this.done.push(disturbance);
      client.resetAndDestroy();
      return;
    }
    const target = connect({ port: this.#port(), host: '127.0.0.1', noDelay: true });
    this.#keep(target);
    client.on('close', () => target.destroy());
    if (disturbance?.kind === 'bad-gateway') this.#answerItself(client, target, disturbance);
    else this.#relay(client, target, disturbance);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #answerItself(client: Socket, target: Socket, disturbance: Disturbance & { readonly kind: 'bad-gateway' }): void {
    client.once('data', () => this.done.push(disturbance));
    if (disturbance.isPassedOn) {
      client.pipe(target);
      // The server has answered, so it has the whole request.
      target.once('data', () => client.end(BAD_GATEWAY));
      target.on('close', () => client.destroy());
    } else client.once('data', () => client.end(BAD_GATEWAY));
  }

  #relay(client: Socket, target: Socket, disturbance: Disturbance | null): void {
    const counts = { requestBytes: 0, answerBytes: 0 };
    this.last = counts;
    const limit = (kind: Disturbance['kind']) =>
      disturbance?.kind === kind && 'bytes' in disturbance ? disturbance.bytes : Number.POSITIVE_INFINITY;
    const [requestLimit, answerLimit, silentAfter] = [limit('cut-request'), limit('cut-answer'), limit('fall-silent')];
    const disturbed = () => disturbance !== null && this.done.push(disturbance);
    client.on('data', (data: Buffer) => {
      const left = requestLimit - counts.requestBytes;
      counts.requestBytes += data.length;
      target.write(data.subarray(0, Math.max(0, left)));
      if (data.length < left) return;
      disturbed();
      client.resetAndDestroy();
      target.end();
    });
    let isPassedOn = true;
    target.on('data', (data: Buffer) => {
      if (!isPassedOn) return;
      const left = Math.min(answerLimit, silentAfter) - counts.answerBytes;
      counts.answerBytes += data.length;
      client.write(data.subarray(0, left));
      if (data.length < left) return;
      isPassedOn = false;
      disturbed();
      // The client gets every byte before the end.
      if (answerLimit < Number.POSITIVE_INFINITY) client.destroySoon();
    });
    target.on('close', () => {
      if (silentAfter === Number.POSITIVE_INFINITY) client.destroySoon();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
