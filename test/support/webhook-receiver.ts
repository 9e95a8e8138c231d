import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@runwire/test-kit/shortfall.ts';

/** A request that a receiver got. */
export interface ReceivedPost {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly id: string;
  readonly at: number;
}

/** A receiver's answer: a status, headers and a text, or the way in which it is broken. */
export interface ReceiverAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly broken?: 'hangs' | 'cuts' | 'garbage';
}

type AnswerPost = (post: ReceivedPost, earlier: number) => ReceiverAnswer | Promise<ReceiverAnswer>;

/** A real receiver of webhooks on this machine. Each path is a receiver of its own. */
export class WebhookReceiver implements AsyncDisposable {
  readonly posts: ReceivedPost[] = [];
  readonly #server = createServer((request, response) => void this.#receive(request, response));
  readonly #answers = new Map<string, AnswerPost>();
  readonly #byPath = new Map<string, ReceivedPost[]>();

  private constructor() {}

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** For `RUNWIRE_WEBHOOK_ALLOW`. */
  get allow(): string {
    return `127.0.0.1:${this.port}`;
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}/${path}`;
  }

  /** Answers posts to this path so from now on. Without it a path answers 204. */
  answers(path: string, answer: AnswerPost | ReceiverAnswer): void {
    this.#answers.set(path, typeof answer === 'function' ? answer : () => answer);
  }

  at(path: string): ReceivedPost[] {
    return this.#byPath.getOrInsertComputed(path, () => []);
  }

  /** Waits until the path got so many posts. */
  async waitFor(path: string, count: number): Promise<ReceivedPost[]> {
    await until(`${count} posts to /${path}`, () => this.at(path).length >= count);
    return this.at(path);
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { headers } = request;
    const path = (request.url ?? '/').slice(1);
    const body = Buffer.concat(pieces).toString();
    const post = { path, headers, body, id: String(headers['webhook-id']), at: Date.now() };
    const earlier = this.at(path).push(post) - 1;
    this.posts.push(post);
    const { status = 204, headers: more = {}, text, broken } = (await this.#answers.get(path)?.(post, earlier)) ?? {};
    if (broken === 'hangs') return;
    if (broken === 'cuts') return void request.socket.destroy();
    if (broken === 'garbage') return void request.socket.end('This is not HTTP.\r\n\r\n');
    response.writeHead(status, more).end(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** The signatures in a header that this secret made. */
export function matchingSignatures({ headers, body, id }: ReceivedPost, secret: string): number {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${headers['webhook-timestamp']}.${body}`).digest('base64');
  return String(headers['webhook-signature'])
    .split(' ')
    .filter((one) => one === `v1,${expected}`).length;
}
