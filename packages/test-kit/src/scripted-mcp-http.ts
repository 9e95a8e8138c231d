import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type McpMessage, type McpScript, ScriptedMcp } from './scripted-mcp.ts';

export interface HttpMcpOptions extends McpScript {
  /** The token that every request must bring; null if none is needed. */
  readonly token?: string | null;
  /** True if `/token` of this server issues the token for client credentials `client` and `s3cret`. */
  readonly oauth?: boolean;
  /** The authorization server that it names, by its origin; itself by default. */
  readonly authorizationServer?: string;
  /** The origin that its metadata names, if it is reached by another address than its own. */
  readonly publicOrigin?: string;
  /** Requests of MCP are redirected to this address. */
  readonly redirectTo?: string | null;
}

/** The scripted MCP server by streamable HTTP. */
export class ScriptedMcpHttp implements AsyncDisposable {
  readonly script: ScriptedMcp;
  /** The paths of all requests, with their methods. */
  readonly requests: string[] = [];
  /** The headers of all requests, as JSON. */
  readonly headers: string[] = [];
  token: string | null;
  /** The authorization server that it names from now on, by its origin. Null if it names itself. */
  authorizationServer: string | null;
  tokensIssued = 0;
  readonly #options: HttpMcpOptions;
  readonly #sessions = new Set<string>();
  readonly #streams = new Set<ServerResponse>();
  #server: Server | null = null;
  #port = 0;

  private constructor(options: HttpMcpOptions) {
    this.#options = options;
    this.token = options.token ?? null;
    this.authorizationServer = options.authorizationServer ?? null;
    this.script = new ScriptedMcp(options);
  }

  static async start(options: HttpMcpOptions = {}): Promise<ScriptedMcpHttp> {
    const server = new ScriptedMcpHttp(options);
    await server.listen();
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** Listens at the same port as before, without the sessions from before. */
  async listen(): Promise<void> {
    this.#sessions.clear();
    const server = createServer((request, response) => void this.#serve(request, response));
    server.listen(this.#port, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Cuts all connections and refuses new ones. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    this.#streams.clear();
    await closed;
  }

  /** Forgets all sessions, as a server does after some time. */
  expire(): void {
    this.#sessions.clear();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '', headers } = request;
    const { publicOrigin = this.origin } = this.#options;
    this.requests.push(`${method} ${url}`);
    this.headers.push(JSON.stringify(headers));
    const json = (status: number, body: object, more = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body));
    if (url.startsWith('/.well-known/oauth-protected-resource')) {
      return void json(200, {
        resource: this.url,
        authorization_servers: [this.authorizationServer ?? this.origin],
      });
    }
    if (url.startsWith('/.well-known/')) {
      return void json(200, {
        issuer: publicOrigin,
        authorization_endpoint: `${publicOrigin}/authorize`,
        token_endpoint: `${publicOrigin}/token`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      });
    }
    if (url === '/token') {
      const isClient = headers.authorization === `Basic ${Buffer.from('client:s3cret').toString('base64')}`;
      if (!isClient) return void json(401, { error: 'invalid_client' });
      this.tokensIssued += 1;
      this.token = `token-${this.tokensIssued}`;
      return void json(200, { access_token: this.token, token_type: 'Bearer' });
    }
    const { redirectTo = null } = this.#options;
    if (redirectTo !== null && url === '/mcp') return void response.writeHead(307, { location: redirectTo }).end();
    if (this.token !== null && headers.authorization !== `Bearer ${this.token}`) {
      const more = this.#options.oauth
        ? { 'www-authenticate': `Bearer resource_metadata="${this.origin}/.well-known/oauth-protected-resource"` }
        : {};
      return void json(401, { error: 'unauthorized' }, more);
    }
    const session = headers['mcp-session-id'];
    if (method === 'POST') return this.#post(request, response);
    if (!this.#sessions.has(String(session))) return void json(404, { error: 'no session' });
    if (method === 'DELETE') {
      this.#sessions.delete(String(session));
      return void response.writeHead(200).end();
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    this.#streams.add(response);
    response.once('close', () => this.#streams.delete(response));
  }

  async #post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const message = JSON.parse(await text(request)) as McpMessage;
    const isFirst = message.method === 'initialize';
    const session = isFirst ? randomUUID() : String(request.headers['mcp-session-id']);
    if (isFirst) this.#sessions.add(session);
    if (!this.#sessions.has(session)) return void response.writeHead(404).end('{"error":"no session"}');
    const event = (one: object) => `event: message\ndata: ${JSON.stringify(one)}\n\n`;
    const outlet = {
      send(one: object) {
        response.write(event(one));
        if ('result' in one || 'error' in one) response.end();
      },
      notify: (one: object) => {
        for (const stream of this.#streams) stream.write(event(one));
      },
      garbage: (garbage: string) => void response.write(garbage),
      die: () => void this.stop(),
      about: { headers: request.headers },
    };
    if (message.id === undefined || message.method === undefined) {
      response.writeHead(202).end();
      return this.script.receive(message, outlet);
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': session }).flushHeaders();
    await this.script.receive(message, outlet);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
