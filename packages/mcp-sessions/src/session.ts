import { setTimeout as sleep } from 'node:timers/promises';
import { unlessAborted } from '@runwire/lib/unless-aborted.ts';
import type { ClientInfo, ReadVariable } from './client-info.ts';
import { connectFailure } from './connect-failure.ts';
import type { Connection } from './connection.ts';
import { errorText } from './error-text.ts';
import type { McpAddress } from './mcp-address.ts';
import type { AskForeign } from './oauth-fetch.ts';
import type { ServerTools } from './server-tools.ts';
import type { ToolResult } from './tool-result.ts';

/** How long a call waits for a server that is not connected. */
const CALL_WAIT_MS = 5000;
/** All of a call, with progress. */
const CALL_MS = 300_000;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 60_000;
/** A call makes the next try begin, but not more often than this. */
const MIN_RETRY_MS = 500;
/** How often a call that waits looks for the connection. */
const LOOK_MS = 25;
/** A connection that lasted longer was a good one, so the next try follows immediately. */
const GOOD_CONNECTION_MS = 30_000;
/** How many tools that cannot be used are logged. */
const MAX_LOGGED = 10;

export interface SessionState {
  readonly state: 'connected' | 'connecting' | 'failed';
  readonly error: string | null;
  /** In milliseconds since 1970. */
  readonly since: number;
}

/** Gets what the operator should know. */
export interface SessionLog {
  warn(about: object, sentence: string): void;
}

export interface SessionSetting {
  /** The server's name in sentences. */
  readonly server: string;
  /** What each line of the log names. */
  readonly labels: object;
  /** The name and version of this program, for the server. */
  readonly client: ClientInfo;
  readonly address: McpAddress;
  readonly variable: ReadVariable;
  readonly askForeign: AskForeign;
  /** The tools that an earlier session had. */
  readonly known: ServerTools | null;
  readonly logger: SessionLog;
}

export interface McpCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string;
  /** Sent in `_meta`, as the protocol wants it. Absent unless the agency sets `propagateTrace`. */
  readonly traceparent?: string | undefined;
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/**
 * A session with one server. It is connected in the background, and again after each loss:
 *
 *   connecting ──▶ connected ──▶ connecting …      (the connection was lost, or the server refused the session)
 *        └───────▶ failed ─────▶ connected          (the next try follows after a growing pause, or if a call waits)
 */
export class McpSession {
  readonly #setting: SessionSetting;
  readonly #closing = new AbortController();
  #state: SessionState = { state: 'connecting', error: null, since: Date.now() };
  #tools: ServerTools | null;
  #connection: Connection | null = null;
  /** Also after it was lost. */
  #lastConnection: Connection | null = null;
  readonly #firstTry = Promise.withResolvers<void>();
  #wake = Promise.withResolvers<void>();
  #lastTryAt = 0;
  /** Lost connections whose calls are under way. The server may answer them, or refuse them too. */
  readonly #retired = new Set<Connection>();
  readonly #done: Promise<void>;

  constructor(setting: SessionSetting) {
    this.#setting = setting;
    this.#tools = setting.known;
    this.#done = this.#keepConnected();
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The last line that the server's program wrote to stderr, without the address's secrets. It can quote what it was sent. */
  get lastOutput(): string | null {
    const line = this.#lastConnection?.lastOutput ?? null;
    return line === null ? null : errorText(line, this.#setting.address);
  }

  /** The last known tools. Null if the server was never connected. */
  get tools(): ServerTools | null {
    return this.#tools;
  }

  /** Resolves when tools are known, or when the server could not be connected. */
  async settled(): Promise<void> {
    if (this.#tools !== null) return;
    if (this.#state.state === 'failed') this.#tryNow();
    else await this.#firstTry.promise;
  }

  /** Resolves when the first try to connect has ended. */
  get firstTry(): Promise<void> {
    return this.#firstTry.promise;
  }

  /** Why a run cannot rely on the server now. Null if it is connected, or its tools are known from before. */
  get problem(): string | null {
    if (this.#state.state === 'failed') return this.#state.error;
    return this.#tools === null ? 'it has not answered yet; the run does not wait longer for it.' : null;
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closing;
    // Every second try that fails finds servers that have only the newest protocol.
    let mode: 'legacy' | 'auto' = 'legacy';
    for (let failures = 0; !signal.aborted; ) {
      const startedAt = performance.now();
      this.#lastTryAt = startedAt;
      this.#wake = Promise.withResolvers();
      const connection = await this.#open(mode);
      this.#firstTry.resolve();
      if (connection === null) mode = mode === 'legacy' ? 'auto' : 'legacy';
      else await this.#untilLost(connection);
      const wasGood = connection !== null && performance.now() - startedAt > GOOD_CONNECTION_MS;
      failures = wasGood ? 0 : failures + 1;
      const isFirstLoss = connection !== null && failures <= 1;
      const pauseMs = isFirstLoss ? 0 : Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
      await Promise.race([sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {}), this.#wake.promise]);
    }
  }

  async #untilLost(connection: Connection): Promise<void> {
    await connection.lost;
    this.#connection = null;
    this.#retire(connection);
    if (this.#closing.signal.aborted) return;
    this.#change('connecting', null);
    const { labels, logger } = this.#setting;
    logger.warn(labels, 'the connection to an MCP server was lost');
  }

  #retire(connection: Connection): void {
    this.#retired.add(connection);
    void connection.closeAfterCalls().finally(() => this.#retired.delete(connection));
  }

  async #open(mode: 'legacy' | 'auto'): Promise<Connection | null> {
    const { address, client, variable, askForeign, logger, labels } = this.#setting;
    const { signal } = this.#closing;
    const onTools = (tools: ServerTools) => {
      const { leftOut } = tools;
      if (tools !== this.#tools && leftOut.length > 0)
        logger.warn({ ...labels, leftOut: leftOut.slice(0, MAX_LOGGED) }, 'tools of an MCP server are left out');
      this.#tools = tools;
    };
    try {
      // Loaded now, because the SDK costs 0.2 s of CPU and most starts need no MCP server.
      const { Connection } = await import('./connection.ts');
      const connection = await Connection.open(
        { address, client, variable, askForeign, mode, known: this.#tools, onTools },
        signal,
      );
      if (signal.aborted) {
        await connection.close();
        return null;
      }
      this.#connection = connection;
      this.#lastConnection = connection;
      this.#change('connected', null);
      return connection;
    } catch (error) {
      if (signal.aborted) return null;
      const reason = connectFailure(error, address);
      if (this.#state.error !== reason) logger.warn({ ...labels, reason }, 'an MCP server could not be connected');
      this.#change('failed', reason);
      return null;
    }
  }

  #change(state: SessionState['state'], error: string | null): void {
    if (this.#state.state === state && this.#state.error === error) return;
    this.#state = { state, error, since: Date.now() };
  }

  #tryNow(): void {
    if (performance.now() - this.#lastTryAt >= MIN_RETRY_MS) this.#wake.resolve();
  }

  /** Calls a tool. Rejects with a sentence for the model. */
  async call(call: McpCall): Promise<ToolResult> {
    const connection = await this.#ready(call.signal);
    try {
      return await send(connection, call);
    } catch (error) {
      const { isRefusedUnread } = await sessionErrors();
      if (!isRefusedUnread(error, connection.hasSession)) throw await this.#described(error, connection, call);
      // The session has expired, or the server was restarted.
      connection.giveUp();
    }
    const renewed = await this.#ready(call.signal);
    try {
      return await send(renewed, call);
    } catch (error) {
      throw await this.#described(error, renewed, call);
    }
  }

  async #ready(signal: AbortSignal): Promise<Connection> {
    const until = performance.now() + CALL_WAIT_MS;
    for (;;) {
      const connection = this.#connection;
      if (connection !== null && !connection.isLost) return connection;
      const leftMs = until - performance.now();
      if (leftMs <= 0 || this.#closing.signal.aborted) break;
      this.#tryNow();
      await unlessAborted(signal, sleep(Math.min(leftMs, LOOK_MS), undefined, { ref: false }));
    }
    const { error } = this.#state;
    const reason = error === null ? 'it does not answer' : error;
    throw new Error(`The MCP server \`${this.#setting.server}\` is not connected: ${reason}`);
  }

  async #described(error: unknown, { report }: Connection, { silenceMs, signal }: McpCall): Promise<Error> {
    const { isTimeout, isLost } = await sessionErrors();
    const name = `The MCP server \`${this.#setting.server}\``;
    if (signal.aborted) return new Error('The call was cancelled.');
    if (isTimeout(error)) {
      const silence = `${silenceMs / 1000} s without a sign of life or ${callMs(silenceMs) / 1000} s in total`;
      return new Error(`${name} did not finish within its time limit (${silence}). The call may have taken effect.`);
    }
    const text = errorText(error, this.#setting.address);
    if (!isLost(error)) return new Error(text);
    const reason = report === '' ? text : errorText(new Error(report), this.#setting.address);
    return new Error(`${name} was lost during the call, which may have taken effect: ${reason}`);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake.resolve();
    await this.#connection?.close();
    await this.#done;
    await Promise.all([...this.#retired].map((connection) => connection.close()));
  }
}

/** Uses the SDK, which the first connection has loaded. */
const sessionErrors = () => import('./session-errors.ts');

const callMs = (silenceMs: number) => Math.max(CALL_MS, silenceMs);

function send(connection: Connection, call: McpCall): Promise<ToolResult> {
  const { tool, input, idempotencyKey, traceparent, silenceMs, signal, onProgress } = call;
  const trace = traceparent === undefined ? {} : { traceparent };
  const _meta = { 'runwire/idempotencyKey': idempotencyKey, ...trace };
  const params = { name: tool, arguments: { ...input }, _meta };
  return connection.call(params, {
    signal,
    timeout: silenceMs,
    resetTimeoutOnProgress: true,
    maxTotalTimeout: callMs(silenceMs),
    onprogress: ({ progress, total, message }) =>
      onProgress(message ?? (total === undefined ? String(progress) : `${progress} of ${total}`)),
  });
}
