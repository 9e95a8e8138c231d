import { hash } from 'node:crypto';
import { isBlank } from '@runwire/lib/is-blank.ts';
import { isCallerId, type RunId } from '../../../domain/ids.ts';
import { Refusal } from '../../../domain/refusal.ts';
import { NO_EXTRAS } from '../../../domain/run/run-extras.ts';
import { cancelRun } from '../../../runs/cancel-run.ts';
import { streamSource } from '../../stream-source.ts';
import type { CompatibleDeps } from '../compatible-deps.ts';
import type { CompatibleCall } from '../compatible-route.ts';
import { headerConsumer, headerContext } from '../compatible-starts.ts';
import type { AskTool } from './ask-tools.ts';
import { readArguments } from './call-arguments.ts';
import { MCP } from './mcp-api.ts';
import { type RunNews, RunReader } from './run-reader.ts';
import { refusedResult, toolResult } from './tool-result.ts';

export const SESSION_HEADER = 'mcp-session-id';
/** The metadata with which the run of a call with a key is found. */
export const REQUEST_METADATA = 'mcp/request';
const IDEMPOTENCY_KEY = 'runwire/idempotencyKey';

/** A `tools/call` of an MCP request. */
export interface CallParams {
  readonly id: string | number;
  readonly arguments: unknown;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  readonly onNews: ((news: RunNews) => void) | null;
}

/**
 * The `usageRequestId` of a call without a key. A session's ids are never used twice, so every node finds the run of a call
 * by them. Null if the client has no session: it cancels by closing the connection.
 */
export function callRequestId(session: string | string[] | undefined, id: string | number): string | null {
  if (typeof session !== 'string' || isBlank(session)) return null;
  return `mcp:${hash('sha256', JSON.stringify([session, id]))}`;
}

/** One HTTP request of an MCP client, while its tool is called. */
export class AskCall {
  /** Resolves when it is decided whether the call becomes a run; then the head of the answer can be sent. */
  readonly decided: Promise<void>;
  /** The headers of the answer. Null until the run is admitted. */
  headers: Readonly<Record<string, string>> | null = null;
  /** Why the request is answered by an HTTP error. Null if it is not. */
  fault: unknown = null;
  /** Called if the stream ends without a result: another node continues the run, or the key was revoked. */
  onBroken: () => void = () => {};
  readonly #deps: CompatibleDeps;
  readonly #call: CompatibleCall;
  readonly #decide: () => void;
  #runId: RunId | null = null;
  #reader: RunReader | null = null;
  #isGone = false;

  constructor(deps: CompatibleDeps, call: CompatibleCall) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.decided = promise;
    this.#decide = resolve;
    this.#deps = deps;
    this.#call = call;
  }

  /** Runs the agent. A refusal is a result that the model can read; what is wrong on our side is an HTTP error. */
  async ask(tool: AskTool, params: CallParams) {
    try {
      await this.#admit(tool, params);
    } catch (error) {
      if (error instanceof Refusal) return refusedResult(error);
      this.fault = error;
      throw error;
    } finally {
      this.#decide();
    }
    const end = await (this.#reader as RunReader).end;
    if (end !== null) return toolResult(end);
    this.onBroken();
    throw new Error('The connection broke.');
  }

  async #admit({ name, agent }: AskTool, params: CallParams): Promise<void> {
    const { request } = this.#call;
    const { message, chatId, paths, sandboxFiles } = readArguments(params.arguments);
    const key = readKey(params.meta);
    const requestId = callRequestId(request.headers[SESSION_HEADER], params.id);
    const metadata = key === null || requestId === null ? null : { [REQUEST_METADATA]: requestId };
    const started = await this.#deps.starts.admit(MCP, this.#call, {
      message,
      agent,
      sandboxFiles,
      chatId,
      consumerId: headerConsumer(request),
      usageRequestId: key ?? requestId,
      userContext: headerContext(request),
      extras: { ...NO_EXTRAS, metadata },
      // An invented id would begin a chat.
      chatRules: { mustExist: true },
      compared: { api: 'mcp', tool: name, message, chatId, files: paths },
    });
    const { runId } = started.admission;
    const source = streamSource(request, runId, 0);
    this.headers = started.headers;
    this.#runId = runId;
    this.#reader = new RunReader(this.#deps.eventLog, this.#deps.streams, source, params.onNews);
    if (!this.#isGone) this.#reader.start();
    else this.#reader.close();
  }

  /** The client closed the connection. `cancels` is true if that is how its revision of the protocol cancels a request. */
  async leave(cancels: boolean): Promise<void> {
    this.#isGone = true;
    this.#reader?.close();
    if (!cancels) return;
    // The run of a request that is still being admitted is cancelled when it exists.
    await this.decided;
    this.#reader?.close();
    if (this.#runId === null) return;
    await cancelRun(this.#deps.cancel, this.#call.scope, this.#runId, 'immediate');
  }
}

function readKey(meta: CallParams['meta']): string | null {
  const key = meta?.[IDEMPOTENCY_KEY] ?? null;
  if (key === null) return null;
  if (typeof key === 'string' && isCallerId(key)) return key;
  throw new Refusal(
    'invalid_request',
    `\`_meta["${IDEMPOTENCY_KEY}"]\` must be a text of 1–256 characters without control characters.`,
  );
}
