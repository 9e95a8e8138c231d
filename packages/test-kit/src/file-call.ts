import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

/** A request as it arrived. */
export interface FileRequest {
  readonly method: string;
  readonly path: string;
  /** With its question mark; empty: none. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
}

type Headers = Readonly<Record<string, string>>;

/** Each answered one as a test says, byte by byte. */
export class FileCall {
  readonly request: FileRequest;
  /** Settles when the answer was sent whole (true) or its connection is gone. */
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

  /** The head, sent at once. */
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

  /** The next call that nobody has taken yet. */
  nextCall(): Promise<FileCall> {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) return Promise.resolve(waiting);
    return new Promise((resolve) => this.#takers.push(resolve));
  }
}
