import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { Refusal } from '../../../domain/refusal.ts';
import type { WaitAt } from '../../../domain/wait-points.ts';
import { cancelRun } from '../../../runs/cancel-run.ts';
import type { CompatibleDeps } from '../compatible-deps.ts';
import { type CompatibleCall, compatibleRoute, ignoredHeader } from '../compatible-route.ts';
import { SSE_HEADERS } from '../event-encoder.ts';
import { AskCall, callRequestId, REQUEST_METADATA, SESSION_HEADER } from './ask-call.ts';
import { askTools } from './ask-tools.ts';
import { MCP } from './mcp-api.ts';
import { McpSdk } from './mcp-sdk.ts';

/** A message of JSON-RPC, as far as a route needs it. */
interface Message {
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown; readonly _meta?: Readonly<Record<string, unknown>> } | null;
}

/** How often and how long a run is looked for whose cancellation arrived before it was admitted. */
const FIND_RETRIES = 20;
const FIND_RETRY_MS = 100;

/** MCP over streamable HTTP, without state: every node answers every request. */
export function mcp(deps: CompatibleDeps): void {
  const sdk = new McpSdk();
  const post = { operationId: 'mcp', method: 'POST', path: '', startsRuns: true } as const;
  compatibleRoute(deps, MCP, post, (call) => answer(deps, sdk, call));
  for (const method of ['GET', 'DELETE'] as const) {
    const operationId = method === 'GET' ? 'mcpStream' : 'mcpEnd';
    compatibleRoute(deps, MCP, { operationId, method, path: '' }, async ({ reply }) => refuseMethod(reply));
  }
}

/** Clients expect this status from a server that has no sessions and no stream of its own. */
const refuseMethod = (reply: FastifyReply) =>
  reply
    .code(405)
    .header('allow', 'POST')
    .send({ jsonrpc: '2.0', error: { code: -32_000, message: 'Method not allowed; use POST.' }, id: null });

async function answer(deps: CompatibleDeps, sdk: McpSdk, call: CompatibleCall): Promise<unknown> {
  const { request, reply, settings } = call;
  if (Array.isArray(request.body)) {
    throw new Refusal('invalid_request', 'Batches of messages are not supported; send each message by itself.');
  }
  const body = request.body as Message;
  if (body?.method === 'notifications/cancelled') {
    // If the store is unavailable, the run continues.
    cancelCall(deps, call, body).catch(() => {});
    return reply.code(202).send();
  }
  const asking = new AskCall(deps, call);
  const gone = new AbortController();
  const web = toWebRequest(call, gone.signal);
  const response = await sdk.answer(web, body, { call: asking, tools: () => askTools(deps, settings) });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream && body?.method === 'tools/call')
    return stream({ call, asking, response, gone, waitAt: deps.streams.waitAt });
  const text = await response.text();
  if (asking.fault !== null) throw asking.fault;
  // A client of an earlier revision repeats it in every request, so that a cancellation finds its run on any node.
  if (body?.method === 'initialize') reply.header(SESSION_HEADER, randomUUID());
  reply.code(response.status).headers(Object.fromEntries(response.headers));
  return reply.send(text);
}

function toWebRequest({ request }: CompatibleCall, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) if (typeof value === 'string') headers.set(name, value);
  // The body is parsed already.
  return new Request(new URL(request.url, 'http://runwire'), { method: 'POST', headers, signal });
}

/** A call whose answer is a stream. */
interface OpenCall {
  readonly call: CompatibleCall;
  readonly asking: AskCall;
  readonly response: Response;
  readonly gone: AbortController;
  readonly waitAt: WaitAt | undefined;
}

/** Sends the stream of a call. Its head follows the decision whether the call becomes a run. */
async function stream({ call, asking, response, gone, waitAt }: OpenCall): Promise<unknown> {
  const { request, reply } = call;
  const { raw } = reply;
  const isModern = (request.body as Message | null)?.params?._meta?.[PROTOCOL_VERSION] !== undefined;
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const onClose = () => {
    if (raw.writableFinished) return;
    gone.abort();
    // If the store is unavailable, the run ends as if it were not cancelled.
    asking.leave(isModern).catch(() => {});
  };
  raw.once('close', onClose);
  // Nothing that the package sends after it may arrive: a clean end looks like an answer.
  asking.onBroken = () => raw.destroy();
  const held: Uint8Array[] = [];
  let piece = reader.read();
  const decided = asking.decided.then(() => null);
  for (let first = await Promise.race([decided, piece]); first !== null; first = await Promise.race([decided, piece])) {
    if (first.done) break;
    held.push(first.value);
    piece = reader.read();
  }
  if (asking.fault !== null) {
    raw.off('close', onClose);
    gone.abort();
    throw asking.fault;
  }
  request.server.noteAnswer(request, response.status);
  reply.headers({ ...asking.headers, ...ignoredHeader(call.ignored), ...SSE_HEADERS });
  const headers = reply.getHeaders();
  reply.hijack();
  waitAt?.('header.before');
  raw.writeHead(response.status, headers as OutgoingHttpHeaders);
  // The caller learns immediately that the run is admitted; the first bytes may be 10 s away.
  raw.flushHeaders();
  for (const bytes of held) raw.write(bytes);
  await pipe(raw, reader, piece);
  return reply;
}

const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';

type Piece = ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>;

async function pipe(raw: ServerResponse, reader: ReadableStreamDefaultReader<Uint8Array>, first: Piece): Promise<void> {
  try {
    let { done, value } = await first;
    while (!done && !raw.destroyed) {
      if (!raw.write(value)) await Promise.race([once(raw, 'drain'), once(raw, 'close')]);
      ({ done, value } = await reader.read());
    }
    raw.end();
  } catch {
    // The stream has no result, and must not look complete.
    raw.destroy();
  }
}

/** Cancels the run that another request in the client's session started. The notification is answered whatever it finds. */
async function cancelCall({ cancel, runReads }: CompatibleDeps, call: CompatibleCall, message: Message): Promise<void> {
  const { scope, request } = call;
  const requestId = message.params?.requestId;
  if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
  const usageRequestId = callRequestId(request.headers[SESSION_HEADER], requestId);
  if (usageRequestId === null) return;
  for (let attempt = 0; attempt < FIND_RETRIES; attempt += 1) {
    const found = await runReads.chatStatus(scope, { usageRequestId }).catch(() => null);
    const runId = found?.run?.runId ?? (await runReads.findActive(scope, REQUEST_METADATA, usageRequestId));
    if (runId !== null) {
      await cancelRun(cancel, scope, runId, 'immediate');
      return;
    }
    await sleep(FIND_RETRY_MS);
  }
}
