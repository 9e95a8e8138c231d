import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { checkHead, checkJsonBody } from './described-answers.ts';

export interface Frame {
  readonly id: number;
  /** Null if the frame has no event name. */
  readonly event: string | null;
  readonly data: string;
}

/** Returns a stream's frames without its comments. */
export function parseFrames(text: string): Frame[] {
  const frames: Frame[] = [];
  for (const block of text.split('\n\n')) {
    const lines = block.split('\n').filter((line) => line !== '' && !line.startsWith(':'));
    if (lines.length === 0) continue;
    const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    frames.push({ id: Number(field('id')), event: field('event') ?? null, data: field('data') ?? '' });
  }
  return frames;
}

interface DeltaData {
  readonly data: { readonly callerAgent?: string | null; readonly data: { readonly delta: string } };
}

/** Returns the text for the user: of all deltas that no `resumed` event discards, without those of delegated agents. */
export function toAnswer(all: readonly Frame[]): string {
  let text = '';
  let frames = all;
  for (const frame of all) {
    if (frame.event !== 'resumed') continue;
    const { discard_after: last } = JSON.parse(frame.data) as { discard_after: number };
    frames = frames.filter((other) => other.id <= last || other.id >= frame.id);
  }
  for (const frame of frames) {
    if (frame.event !== null || !frame.data.includes('response.output_text.delta')) continue;
    const { callerAgent, data } = (JSON.parse(frame.data) as DeltaData).data;
    if (callerAgent === null || callerAgent === undefined) text += data.delta;
  }
  return text;
}

/** Removes the heartbeats. The rest must be equal for all readers. */
export function withoutComments(text: string): string {
  return text.replace(/^:[^\n]*\n\n/gm, '');
}

/** A stream as a client sees it: the head, and the bytes that have arrived so far. */
export class StreamReader {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Resolves when the connection has closed; true if the whole answer arrived. */
  readonly over: Promise<boolean>;
  text = '';
  readonly #message: IncomingMessage;
  #wake: (() => void)[] = [];
  #isOver = false;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.status = message.statusCode ?? 0;
    this.headers = message.headers;
    message.setEncoding('utf8');
    message.on('data', (chunk: string) => {
      this.text += chunk;
      this.#wakeAll();
    });
    message.on('error', () => {});
    this.over = new Promise((resolve) =>
      message.on('close', () => {
        this.#isOver = true;
        resolve(message.complete);
        this.#wakeAll();
      }),
    );
  }

  #wakeAll(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }

  get frames(): Frame[] {
    return parseFrames(this.text.slice(0, this.text.lastIndexOf('\n\n') + 2));
  }

  /** The answer's text so far. */
  get answer(): string {
    return toAnswer(this.frames);
  }

  /** Resolves when the condition is true. Rejects if the connection closes before. */
  async until(condition: (reader: StreamReader) => boolean): Promise<void> {
    while (!condition(this)) {
      if (this.#isOver) throw new Error(`The stream ended before what was waited for:\n${this.text.slice(-2000)}`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  untilText(text: string): Promise<void> {
    return this.until((reader) => reader.text.includes(text));
  }

  /** Reads to the end of the connection. */
  async whole(): Promise<Frame[]> {
    await this.over;
    return this.frames;
  }

  /** Stops reading: the kernel's buffers fill, then the server's. */
  pause(): void {
    this.#message.pause();
  }

  resume(): void {
    this.#message.resume();
  }

  cut(): void {
    this.#message.destroy();
  }
}

export function openStream(
  url: string,
  options: { method: string; headers: Readonly<Record<string, string>>; body?: string },
): Promise<StreamReader> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: options.method, headers: options.headers, agent: false });
    sent.on('response', (message) => {
      const reader = new StreamReader(message);
      try {
        checkReader(options.method, url, reader);
        resolve(reader);
      } catch (error) {
        message.destroy();
        reject(error);
      }
    });
    sent.on('error', reject);
    sent.end(options.body);
  });
}

/** Checks a stream's head, and also the body of a refusal after it was read; see `described-answers.ts`. */
function checkReader(method: string, url: string, reader: StreamReader): void {
  const { pathname, search } = new URL(url);
  const pairs = Object.entries(reader.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const head = { method, path: pathname + search, status: reader.status, headers: new Headers(pairs) };
  checkHead(head);
  if (!String(reader.headers['content-type']).startsWith('application/json')) return;
  // A rejection without a handler fails the test that is running.
  void reader.over.then((isWhole) => isWhole && checkJsonBody(head, JSON.parse(reader.text)));
}
