import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

/** A request as it arrived. */
export interface FileRequest {
  readonly method: string;
  readonly path: string;
  /** With its question mark; empty if there is none. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
}

type Headers = Readonly<Record<string, string>>;

/** One request. The test decides every byte of the answer. */
export class FileCall {
  readonly request: FileRequest;
  /** Resolves when the connection has closed; true if the whole answer was sent. */
  readonly closed: Promise<boolean>;
  readonly #response: ServerResponse;

  constructor(request: FileRequest, response: ServerResponse) {
    this.request = request;
    this.#response = response;
    this.closed = new Promise((resolve) => response.once('close', () => resolve(response.writableFinished)));
    response.on('error', () => {});
  }

  get isClosed(): boolean {
    return this.#response.closed || this.#response.destroyed;
  }

  /** Sends the head immediately. */
  head(status = 200, headers: Headers = {}): void {
    this.#response.writeHead(status, headers);
    this.#response.flushHeaders();
  }

  /** Resolves when the kernel has the bytes, or the other side has gone. */
  async bytes(bytes: Uint8Array | string): Promise<void> {
    if (!this.#response.headersSent) this.head();
    if (bytes.length === 0 || this.isClosed) return;
    await Promise.race([new Promise<void>((done) => this.#response.write(bytes, () => done())), this.closed]);
  }

  end(): void {
    this.#response.end();
  }

  /** The connection breaks. */
  cut(): void {
    this.#response.socket?.destroy();
  }

  answer(status: number, body: Uint8Array | string, headers: Headers = {}): void {
    this.#response.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers });
    this.#response.end(body);
  }
}

export type FileAnswer = (call: FileCall) => void | Promise<void>;

/** Calls of one path that wait for the test. */
export class HeldFile {
  readonly #waiting: FileCall[] = [];
  readonly #takers: ((call: FileCall) => void)[] = [];

  take(call: FileCall): void {
    const taker = this.#takers.shift();
    if (taker === undefined) this.#waiting.push(call);
    else taker(call);
  }

  /** Resolves to the next call that was not returned before. */
  nextCall(): Promise<FileCall> {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) return Promise.resolve(waiting);
    return new Promise((resolve) => this.#takers.push(resolve));
  }
}
