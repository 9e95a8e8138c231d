import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { root } from './cli-process.ts';
import { temporaryPaths } from './nginx.ts';

const NODES = /^( *server) node-\d+:8787( [^\n]*)$/gm;

/** The text must occur exactly once. Otherwise the file is not the expected one. */
function replaceOnce(text: string, what: string, by: string): string {
  if (text.split(what).length !== 2) throw new Error(`deploy/nginx.conf: expected \`${what}\` once.`);
  return text.replace(what, by);
}

/** `deploy/nginx.conf`, except for its port, its folders and its nodes' addresses. */
export function balancerConfiguration(nodes: readonly string[]): (folder: string, port: number) => string {
  return (folder, port) => {
    let text = readFileSync(join(root, 'deploy/nginx.conf'), 'utf8');
    text = replaceOnce(text, 'listen 8787;', `listen 127.0.0.1:${port};`);
    text = replaceOnce(text, 'pid /var/run/nginx.pid;', `pid ${folder}/nginx.pid;`);
    text = replaceOnce(text, 'error_log stderr warn;', `error_log ${folder}/error.log warn;`);
    text = replaceOnce(text, 'access_log off;', `access_log off; ${temporaryPaths(folder)}`);
    const places = nodes.map((url) => new URL(url).host);
    text = text.replace(NODES, (_, server: string, rest: string) => `${server} ${places.shift()}${rest}`);
    if (places.length > 0 || text.includes('undefined')) throw new Error('deploy/nginx.conf: expected as many nodes.');
    return text;
  };
}

/** A node that accepts every request and then closes the connection. */
export class BreakingNode implements AsyncDisposable {
  readonly url: string;
  /** The first line of each request that arrived. */
  readonly asked: string[];
  readonly #close: () => Promise<void>;

  private constructor(url: string, asked: string[], close: () => Promise<void>) {
    this.url = url;
    this.asked = asked;
    this.#close = close;
  }

  static async start(): Promise<BreakingNode> {
    const asked: string[] = [];
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('data', (chunk) => {
        asked.push(String(chunk).split('\r\n')[0] ?? '');
        socket.resetAndDestroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    return new BreakingNode(`http://127.0.0.1:${port}`, asked, async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}
