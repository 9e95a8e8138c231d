import { type Duplex, duplexPair } from 'node:stream';
import type { DialTo, Network } from '../network.ts';

/** What a connection's server does with a request: it writes bytes, closes, or stays silent. */
export type Serve = (request: string, connection: Duplex) => void;

/** A name's addresses: one list for each lookup. The last list is used for all further lookups. */
export type Names = Readonly<Record<string, readonly (readonly string[])[]>>;

/**
 * A network in memory: names resolve to the given addresses, connections are streams that count as secured, and all
 * requests are recorded.
 */
export class WatchedNetwork implements Network {
  readonly resolved: string[] = [];
  readonly dialled: DialTo[] = [];
  readonly requests: string[] = [];
  /** The client's sockets, and those of the servers. */
  readonly connections: { readonly ours: Duplex; readonly theirs: Duplex }[] = [];
  readonly #names: Names;
  readonly #serve: Serve;

  constructor(names: Names, serve: Serve) {
    this.#names = names;
    this.#serve = serve;
  }

  async resolve(hostname: string): Promise<readonly string[]> {
    const before = this.resolved.filter((name) => name === hostname).length;
    this.resolved.push(hostname);
    const answers = this.#names[hostname] ?? [];
    return answers[Math.min(before, answers.length - 1)] ?? [];
  }

  async dial(to: DialTo): Promise<Duplex> {
    this.dialled.push(to);
    const [ours, theirs] = duplexPair();
    this.connections.push({ ours, theirs });
    let request = '';
    theirs.on('error', () => {});
    theirs.on('data', (piece: Buffer) => {
      request += piece.toString('latin1');
      if (!isWhole(request)) return;
      this.requests.push(request);
      this.#serve(request, theirs);
    });
    return ours;
  }
}

function isWhole(request: string): boolean {
  const end = request.indexOf('\r\n\r\n');
  const [, length = '0'] = /^content-length: (\d+)/im.exec(request) ?? [];
  return end !== -1 && request.length >= end + 4 + Number(length);
}

/** An answer's bytes. */
export function httpAnswer(status: number, headers: Readonly<Record<string, string>> = {}, body = ''): string {
  const lines = Object.entries({ 'content-length': String(Buffer.byteLength(body)), ...headers });
  return `HTTP/1.1 ${status} Said\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}
