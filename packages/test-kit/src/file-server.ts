import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setDefaultCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { CallQueue } from '@runwire/server/src/testing/call-queue.ts';
import { type FileAnswer, FileCall, type FileRequest } from './file-call.ts';
import { type TestCertificate, testCertificate } from './test-certificate.ts';

export interface SignedLinkOptions {
  /** When the link was signed; default: now. */
  readonly at?: Date;
  readonly expiresSeconds?: number;
}

/** The authorities of the file servers that this process trusts. */
const trusted = new Set<string>();
const HOSTS = ['127.0.0.1', 'localhost', 'files.example.com'];

/** A file server over real TLS on loopback. A client must be set up to trust its authority. */
export class FileServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #routes = new Map<string, FileAnswer>();
  readonly #signatures = new Map<string, string>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'runwire-files-'));
  /** The authority's certificate as PEM. */
  readonly ca: string;
  /** The path of that certificate, for `NODE_EXTRA_CA_CERTS`. */
  readonly caFile: string;
  /** This server's clock, which decides when links expire. */
  now: () => number = Date.now;
  /** Every request so far. */
  readonly requests: FileRequest[] = [];

  private constructor(server: Server, certificate: TestCertificate) {
    this.#server = server;
    this.ca = certificate.ca;
    this.caFile = join(this.#folder, 'ca.pem');
    writeFileSync(this.caFile, certificate.ca);
    server.on('request', (request, response) => void this.#take(request, response));
  }

  static async start(): Promise<FileServer> {
    const certificate = testCertificate(HOSTS);
    const server = createServer({ cert: certificate.cert, key: certificate.key });
    const files = new FileServer(server, certificate);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return files;
  }

  async #take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'https://files.example.com');
    const request = {
      method: incoming.method ?? '',
      path: url.pathname,
      query: url.search,
      headers: incoming.headers,
    };
    this.requests.push(request);
    const call = new FileCall(request, response);
    const answer = this.#routes.get(request.path);
    if (answer === undefined) call.answer(404, 'Nothing is here.', { 'content-type': 'text/plain' });
    else await answer(call);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The value of `RUNWIRE_FETCH_ALLOW` under which it can be reached. */
  get allow(): string {
    return `127.0.0.1/32:${this.port}`;
  }

  /** What a server's process must be given to fetch from here. */
  get env(): Readonly<Record<string, string>> {
    return { RUNWIRE_FETCH_ALLOW: this.allow, NODE_EXTRA_CA_CERTS: this.caFile };
  }

  url(path: string): string {
    return `https://127.0.0.1:${this.port}${path}`;
  }

  /**
   * From now on this process trusts it, until the result is disposed of, and no public authority: to read all of those
   * again costs 80 CPU ms.
   */
  trustHere(): Disposable {
    trusted.add(this.ca);
    setDefaultCACertificates([...trusted]);
    return {
      [Symbol.dispose]: () => {
        trusted.delete(this.ca);
        setDefaultCACertificates([...trusted]);
      },
    };
  }

  /** The requests for one path so far. */
  asked(path: string): FileRequest[] {
    return this.requests.filter((request) => request.path === path);
  }

  /** Replaces this path's earlier route. */
  route(path: string, answer: FileAnswer): void {
    this.#routes.set(path, answer);
  }

  serve(path: string, bytes: Uint8Array | string, contentType: string | null = null, status = 200): string {
    this.route(path, (call) => call.answer(status, bytes, contentType === null ? {} : { 'content-type': contentType }));
    return this.url(path);
  }

  redirect(path: string, to: string, status = 302): string {
    this.route(path, (call) => call.answer(status, '', { location: to }));
    return this.url(path);
  }

  /** Holds each request until the test answers it, for example with a late head or slow bytes. */
  hold(path: string): CallQueue<FileCall> {
    const held = new CallQueue<FileCall>();
    this.route(path, (call) => held.add(call));
    return held;
  }

  /** Announces `announced` bytes and sends these. If they are fewer, the connection closes after them. */
  lie(path: string, bytes: Uint8Array, announced: number): string {
    this.route(path, async (call) => {
      call.head(200, { 'content-length': String(announced), 'content-type': 'application/octet-stream' });
      await call.bytes(bytes);
      call.cut();
    });
    return this.url(path);
  }

  /** Sends bytes without a length and without end, until the client closes the connection. */
  endless(path: string): string {
    const piece = Buffer.alloc(65_536, 'a');
    this.route(path, async (call) => {
      while (!call.isClosed) {
        await call.bytes(piece);
        // After the client has left, writes succeed immediately, so the loop would never see the close event.
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    return this.url(path);
  }

  /** Sends the file compressed, although the request does not accept that. */
  gzipped(path: string, bytes: Uint8Array, contentType = 'text/plain'): string {
    const headers = { 'content-encoding': 'gzip', 'content-type': contentType };
    this.route(path, (call) => call.answer(200, gzipSync(bytes), headers));
    return this.url(path);
  }

  /** Serves links that are signed as in S3. Only the last signed link works, until it expires; others get 403. */
  serveSigned(path: string, bytes: Uint8Array | string, contentType: string | null = null): void {
    this.route(path, (call) => {
      const query = new URLSearchParams(call.request.query);
      const isCurrent = query.get('X-Amz-Signature') === this.#signatures.get(path);
      if (isCurrent && getExpiry(query) > this.now()) {
        call.answer(200, bytes, contentType === null ? {} : { 'content-type': contentType });
      } else {
        call.answer(403, '<Error><Code>AccessDenied</Code></Error>', { 'content-type': 'application/xml' });
      }
    });
  }

  /** A new link to what `serveSigned` serves; earlier ones are void. */
  sign(path: string, { at = new Date(this.now()), expiresSeconds = 900 }: SignedLinkOptions = {}): string {
    const signature = randomBytes(32).toString('hex');
    this.#signatures.set(path, signature);
    const date = at.toISOString().replace(/[-:]|\.\d+/g, '');
    const query = new URLSearchParams({
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': `AKIATEST/${date.slice(0, 8)}/eu-central-1/s3/aws4_request`,
      'X-Amz-Date': date,
      'X-Amz-Expires': String(expiresSeconds),
      'X-Amz-SignedHeaders': 'host',
      'X-Amz-Signature': signature,
    });
    return `${this.url(path)}?${query}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function getExpiry(query: URLSearchParams): number {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(query.get('X-Amz-Date') ?? '') ?? [];
  const [year = 0, month = 1, day = 1, ...time] = parts.map(Number);
  return Date.UTC(year, month - 1, day, ...time) + Number(query.get('X-Amz-Expires')) * 1000;
}
