import { createHash } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import type { ApiClient } from '@runwire/server/testing';

/** A reader that has received a stream's head, and reads its socket only when it is asked to. */
export class IdleReader {
  readonly message: IncomingMessage;
  bytes = 0;
  tail = '';
  isOver = false;
  /** The number of bytes at which it stops reading. */
  #wanted = 0;
  #news = Promise.withResolvers<void>();
  readonly #hash = createHash('sha1');

  constructor(message: IncomingMessage) {
    this.message = message;
    const isOver = () => {
      this.isOver = true;
      this.#news.resolve();
    };
    message.on('error', () => {}).on('close', isOver);
    message.pause();
    message.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
      this.tail = (this.tail + chunk.toString('latin1')).slice(-64);
      this.#hash.update(chunk);
      if (this.bytes >= this.#wanted) message.pause();
      this.#news.resolve();
    });
  }

  static open(api: ApiClient, path: string, body?: object): Promise<IdleReader> {
    const headers = { ...api.authorization, 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const sent = request(api.url + path, { method: body === undefined ? 'GET' : 'POST', agent: false, headers });
      sent.on('response', (message) => resolve(new IdleReader(message))).on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Reads so many more bytes. */
  read(bytes = Number.POSITIVE_INFINITY): void {
    this.#wanted = this.bytes + bytes;
    this.message.resume();
  }

  async until(condition: (reader: IdleReader) => boolean): Promise<void> {
    while (!condition(this) && !this.isOver) {
      this.#news = Promise.withResolvers();
      await this.#news.promise;
    }
  }

  /** Waits for the end; resolves to the length and a digest of the stream. */
  async end(): Promise<string> {
    await this.until(() => false);
    if (!this.tail.endsWith('event: end\ndata: [DONE]\n\n')) throw new Error('The stream ended without `end`.');
    return `${this.bytes} bytes ${this.#hash.digest('hex')}`;
  }

  whole(): Promise<string> {
    this.read();
    return this.end();
  }
}
