import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { checkAnswer, TOKEN_MARK } from './answer-check.ts';
import { nowMicros, type Order } from './model.ts';

const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');
const OK = Buffer.from('HTTP/1.1 200 ');
const DELTA = Buffer.from('"delta":" ');
const QUOTE = 34;
const MAX_HEAD_BYTES = 2048;

/** All connections read into this buffer, one after the other, and copy what they keep. */
const shared = Buffer.allocUnsafe(1 << 16);

/** A persistent connection to a server. It reads into its own buffer and unpacks an answer once, at its end. */
export class Connection {
  readonly #socket: Socket;
  /** Collects the delays of tokens in a paced phase, in microseconds. */
  readonly #lags: number[] | null;
  #bytes = Buffer.allocUnsafe(1 << 14);
  #length = 0;
  /** The offset up to which token times were read. */
  #timedTo = 0;
  #order: Order = { tokens: 0, burst: 0, everyMs: 0 };
  #sentAt = 0;
  #firstTokenMs: number | null = null;
  #began: (() => void) | null = null;
  #done: ((firstTokenMs: number) => void) | null = null;
  #failed: ((error: Error) => void) | null = null;

  constructor(port: number, lags: number[] | null) {
    this.#lags = lags;
    this.#socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: { buffer: shared, callback: (count, bytes) => this.#read(count, bytes as Buffer) },
    });
    this.#socket.on('error', (error) => this.#failed?.(error));
    this.#socket.on('close', () =>
      this.#failed?.(new Error('The server closed a connection before its answer ended.')),
    );
  }

  /** Resolves to the milliseconds until the first token, after the answer is complete and checked. */
  ask(request: string, order: Order, began: (() => void) | null): Promise<number> {
    this.#length = 0;
    this.#timedTo = 0;
    this.#order = order;
    this.#firstTokenMs = null;
    this.#began = began;
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
      this.#sentAt = performance.now();
      this.#socket.write(request, 'latin1');
    });
  }

  async opened(): Promise<void> {
    if (this.#socket.connecting) await once(this.#socket, 'connect');
  }

  /** The last answer's chat. Undefined before the first. */
  get chatId(): string | undefined {
    return /^x-chat-id: (\S+)/im.exec(this.#head())?.[1];
  }

  /** The last answer's run. Undefined before the first. */
  get runId(): string | undefined {
    return /^x-run-id: (\S+)/im.exec(this.#head())?.[1];
  }

  #head(): string {
    return this.#bytes.toString('latin1', 0, Math.min(this.#length, MAX_HEAD_BYTES));
  }

  close(): void {
    this.#failed = null;
    this.#socket.destroy();
  }

  #read(count: number, bytes: Buffer): boolean {
    while (this.#length + count > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes], this.#bytes.length * 2);
    }
    bytes.copy(this.#bytes, this.#length, 0, count);
    this.#length += count;
    const answer = this.#bytes.subarray(0, this.#length);
    try {
      if (answer.length >= OK.length && answer.compare(OK, 0, OK.length, 0, OK.length) !== 0) {
        throw new Error(`The server refused: ${answer.toString('utf8', 0, 800)}`);
      }
      if (this.#firstTokenMs === null && answer.includes(TOKEN_MARK)) {
        this.#firstTokenMs = performance.now() - this.#sentAt;
        this.#began?.();
      }
      if (this.#lags !== null) this.#time(answer, this.#lags);
      // These bytes cannot be inside an answer: its JSON has no CR, and only the last chunk is empty.
      const end = answer.length - LAST_CHUNK.length;
      if (end > 0 && answer.compare(LAST_CHUNK, 0, LAST_CHUNK.length, end) === 0) {
        checkAnswer(answer, this.#order);
        this.#done?.(this.#firstTokenMs ?? 0);
      }
    } catch (error) {
      this.#failed?.(error as Error);
    }
    return true;
  }

  #time(answer: Buffer, lags: number[]): void {
    const now = nowMicros();
    for (;;) {
      const at = answer.indexOf(DELTA, this.#timedTo);
      const end = at === -1 ? -1 : answer.indexOf(QUOTE, at + DELTA.length);
      if (end === -1) return;
      this.#timedTo = end;
      lags.push(now - Number(answer.toString('latin1', at + DELTA.length, end)));
    }
  }
}
