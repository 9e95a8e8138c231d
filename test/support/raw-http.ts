import { connect, type Socket } from 'node:net';
import { TEST_API_KEY } from '@runwire/test-kit';

/** A connection on which a test sends bytes that no HTTP client would send. */
export class RawConnection {
  readonly socket: Socket;
  /** Everything that the server has answered so far. */
  text = '';
  /** Resolves to everything that the server answered, when the connection is closed. */
  readonly closed: Promise<string>;

  constructor(url: string, host = '127.0.0.1') {
    this.socket = connect(Number(new URL(url).port), host);
    this.socket.on('error', () => {});
    this.socket.on('data', (chunk: Buffer) => {
      this.text += chunk.toString('latin1');
    });
    this.closed = new Promise((resolve) => this.socket.on('close', () => resolve(this.text)));
  }

  send(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /** Sends a byte at intervals until the server closes the connection. */
  async drip(): Promise<string> {
    const drip = setInterval(() => this.socket.write('x'), 20);
    return this.closed.finally(() => clearInterval(drip));
  }
}

/** The head of a request with a JSON body of this length. */
export const jsonHead = (line: string, bodyBytes: number, key = TEST_API_KEY) =>
  `${line} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
  `content-type: application/json\r\ncontent-length: ${bodyBytes}\r\n\r\n`;
