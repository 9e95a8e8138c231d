import { Client, type ClientOptions, type Transport } from '@modelcontextprotocol/client';
import { unlessAborted } from '@runwire/lib/unless-aborted.ts';
import { withTimeout } from '@runwire/lib/with-timeout.ts';
import type { ClientInfo, ReadVariable } from './client-info.ts';
import { HttpTransport } from './http-transport.ts';
import type { McpAddress } from './mcp-address.ts';
import type { AskForeign } from './oauth-fetch.ts';
import { readTools, type ServerTools } from './server-tools.ts';
import { isAnswer, isTimeout } from './session-errors.ts';
import { StdioTransport } from './stdio-transport.ts';
import type { ToolResult } from './tool-result.ts';

/** `npx` may first have to fetch the server. */
const CONNECT_MS = 60_000;
const LIST_MS = 30_000;
const END_SESSION_MS = 1000;
const MAX_LIST_PAGES = 1000;

/** The variables that every stdio server gets besides those in `env`. */
const INHERITED = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];

/** Patterns in a server's schema could stop this node. The model gets what the server sends. */
const ACCEPT_ALL: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => (value) => ({ valid: true, data: value as never, errorMessage: undefined }),
};

export interface ConnectionSetting {
  readonly address: McpAddress;
  readonly client: ClientInfo;
  readonly variable: ReadVariable;
  /** Reaches the authorization servers that MCP servers name. */
  readonly askForeign: AskForeign;
  /** `auto` also finds servers that have only the newest protocol, for one more request or process. */
  readonly mode: 'legacy' | 'auto';
  readonly known: ServerTools | null;
  readonly onTools: (tools: ServerTools) => void;
}

/** One connection to a server, from its handshake to its loss. */
export class Connection {
  readonly #client: Client;
  readonly #transport: HttpTransport | StdioTransport;
  readonly #lost = Promise.withResolvers<void>();
  readonly #onTools: (tools: ServerTools) => void;
  #tools: ServerTools | null;
  readonly #calls = new Set<Promise<unknown>>();
  readonly #cut = Promise.withResolvers<void>();
  #isChecking = false;
  #isLost = false;
  #closed: Promise<void> | null = null;

  private constructor({ address, client, variable, askForeign, mode, known, onTools }: ConnectionSetting) {
    this.#transport =
      address.kind === 'http'
        ? new HttpTransport(address, askForeign)
        : new StdioTransport({ ...address, env: { ...inherited(variable), ...address.env } });
    this.#tools = known;
    this.#onTools = onTools;
    this.#client = new Client(client, {
      versionNegotiation: { mode },
      listMaxPages: MAX_LIST_PAGES,
      jsonSchemaValidator: ACCEPT_ALL,
      listChanged: {
        tools: {
          // The callback gets an error if the connection closes.
          onChanged: (error, tools) => {
            if (error === null && tools !== null && !this.#isLost) this.#read(tools);
          },
        },
      },
    });
    this.#client.onclose = () => this.giveUp();
    // A server that has died is noticed only by the streams' errors.
    if (address.kind === 'http') this.#client.onerror = () => void this.#check();
  }

  /** Rejects if the server cannot be reached or does not list its tools. A stdio server's program is then ended. */
  static async open(setting: ConnectionSetting, signal: AbortSignal): Promise<Connection> {
    const connection = new Connection(setting);
    try {
      const connected = connection.#client.connect(connection.#transport as Transport, { timeout: CONNECT_MS, signal });
      // The SDK ignores the signal while it finds out the protocol in mode `auto`.
      await unlessAborted(signal, connected);
      await connection.#list(LIST_MS, signal);
      return connection;
    } catch (error) {
      const { report } = connection;
      await connection.close();
      // The report names the cause. The error is only that the connection was closed, or that no answer arrived.
      throw report === '' ? error : new Error(report);
    }
  }

  /** Resolves when the connection is lost or closed. */
  get lost(): Promise<void> {
    return this.#lost.promise;
  }

  get hasSession(): boolean {
    return this.#transport instanceof HttpTransport && this.#transport.sessionId !== undefined;
  }

  /** What is known about the end of the program of a stdio server; '' if nothing is known. */
  get report(): string {
    return this.#transport instanceof StdioTransport ? this.#transport.report : '';
  }

  /** The last line that the program of a stdio server wrote to stderr. */
  get lastOutput(): string | null {
    return this.#transport instanceof StdioTransport ? this.#transport.lastOutput : null;
  }

  async #list(timeout: number, signal?: AbortSignal): Promise<void> {
    // The SDK would print a line for each request.
    if (this.#client.getServerCapabilities()?.tools === undefined) return this.#read([]);
    const options = { timeout, cacheMode: 'refresh' as const, ...(signal === undefined ? {} : { signal }) };
    const { tools } = await this.#client.listTools(undefined, options);
    this.#read(tools);
  }

  #read(tools: Parameters<typeof readTools>[0]): void {
    this.#tools = readTools(tools, this.#transport.leftOut, this.#tools);
    this.#onTools(this.#tools);
  }

  /** Asks the server for its tools, and gives the connection up if no answer can arrive. */
  async #check(): Promise<void> {
    if (this.#isChecking || this.#isLost || this.#client.getServerCapabilities() === undefined) return;
    this.#isChecking = true;
    try {
      await this.#list(LIST_MS);
    } catch (error) {
      if (!isAnswer(error) && !isTimeout(error)) this.giveUp();
    } finally {
      this.#isChecking = false;
    }
  }

  call(...args: Parameters<Client['callTool']>): Promise<ToolResult> {
    const call = this.#client.callTool(...args);
    this.#calls.add(call);
    const forget = () => this.#calls.delete(call);
    call.then(forget, forget);
    return call;
  }

  /** No new call uses the connection from now on. */
  giveUp(): void {
    this.#isLost = true;
    this.#lost.resolve();
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Closes the connection when the calls that are under way have ended. Each has its time limit. */
  async closeAfterCalls(): Promise<void> {
    await Promise.race([Promise.allSettled(this.#calls), this.#cut.promise]);
    await this.close();
  }

  /** Resolves when the session has ended and no process of the server is left. Idempotent. */
  close(): Promise<void> {
    this.#cut.resolve();
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    const transport = this.#transport;
    if (transport instanceof HttpTransport && !this.#isLost) {
      const ended = transport.terminateSession().catch(() => {});
      await withTimeout(ended, END_SESSION_MS, () => {});
    }
    this.giveUp();
    await this.#client.close().catch(() => {});
    await transport.close().catch(() => {});
  }
}

function inherited(variable: ReadVariable): Record<string, string> {
  return Object.fromEntries(
    INHERITED.flatMap((name) => {
      const value = variable(name);
      // A value that begins like this is a function of a shell.
      return value === null || value.startsWith('()') ? [] : [[name, value]];
    }),
  );
}
