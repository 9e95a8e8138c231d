import type { ServerResponse } from 'node:http';

type Headers = Readonly<Record<string, string>>;

/** One request to a server of a test. The test decides every byte of the answer. */
export class HttpCall {
  /** Resolves when the connection has closed; true if the whole answer was sent. */
  readonly closed: Promise<boolean>;
  protected readonly response: ServerResponse;
  readonly #contentType: Headers;

  /** `contentType` is sent unless the test sends another. */
  constructor(response: ServerResponse, contentType: Headers = {}) {
    this.response = response;
    this.#contentType = contentType;
    this.closed = new Promise((resolve) => response.once('close', () => resolve(response.writableFinished)));
    response.on('error', () => {});
  }

  get isClosed(): boolean {
    return this.response.closed || this.response.destroyed;
  }

  /** Sends the head immediately. */
  head(status = 200, headers: Headers = {}): void {
    this.response.writeHead(status, { ...this.#contentType, ...headers });
    this.response.flushHeaders();
  }

  /** Resolves when the kernel has the bytes, so that the next bytes arrive separately, or when the client has left. */
  async bytes(bytes: Uint8Array | string): Promise<void> {
    if (!this.response.headersSent) this.head();
    if (bytes.length === 0 || this.isClosed) return;
    await Promise.race([new Promise<void>((done) => this.response.write(bytes, () => done())), this.closed]);
  }

  end(): void {
    if (!this.response.headersSent) this.head();
    this.response.end();
  }
}
