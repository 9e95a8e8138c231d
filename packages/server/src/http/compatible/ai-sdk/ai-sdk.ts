import type { OwnerId, RunId } from '../../../domain/ids.ts';
import { lastFrameId } from '../../../domain/run/events.ts';
import { cancelRun } from '../../../runs/cancel-run.ts';
import type { ContinuedRun } from '../../../runs/continued-runs.ts';
import { knownBase } from '../../callers-base.ts';
import type { CompatibleApi } from '../compatible-api.ts';
import type { CompatibleDeps } from '../compatible-deps.ts';
import { type CompatibleCall, compatibleRoute } from '../compatible-route.ts';
import { Fields } from '../fields.ts';
import { findChat } from '../find-chat.ts';
import { followRun } from '../follow-run.ts';
import { readWhenBusy, WhenBusyQuery } from '../when-busy.ts';
import { readUiRequest, toCompatibleRequest, type UiRequest } from './read-ui-request.ts';
import { toMessageId, UiStream } from './ui-stream.ts';

const AI_SDK: CompatibleApi = {
  name: 'ai-sdk',
  path: '/ai-sdk/chat',
  memberField: '`consumerId` or the header `X-Runwire-Consumer-Id`',
  contextField: '`user_context`',
};

/** `useChat` of the AI SDK, with its own transport. */
export function aiSdk(deps: CompatibleDeps): void {
  const { starts } = deps;

  compatibleRoute(
    deps,
    AI_SDK,
    { operationId: 'aiSdkChat', method: 'POST', path: '', clientToken: 'run', startsRuns: true, query: WhenBusyQuery },
    async (call) => {
      const whenBusy = readWhenBusy(call);
      const given = readUiRequest(call);
      const stored = await findChat(deps, call, given.chatId);
      const wanted = toCompatibleRequest(call, given, stored);
      const started = await starts.admit(AI_SDK, call, wanted, whenBusy);
      const { runId } = started.admission;
      await starts.followPrepared(call, started, () => answerStream(deps, call, runId, given));
      return call.reply;
    },
  );

  compatibleRoute(
    deps,
    AI_SDK,
    { operationId: 'aiSdkResume', method: 'GET', path: '/:chatId/stream', clientToken: 'read' },
    async (call) => {
      const chat = await findChat(deps, call, namedChat(call));
      const active = chat?.activeRunId ?? null;
      if (active === null) return call.reply.code(204).send();
      await replay(deps, call, (await deps.runReads.row(call.scope, active)).run_id);
      return call.reply;
    },
  );

  compatibleRoute(
    deps,
    AI_SDK,
    { operationId: 'aiSdkStop', method: 'POST', path: '/:chatId/stop', clientToken: 'run' },
    async (call) => {
      const { body } = call.request;
      const streamId = body === undefined || body === null ? null : Fields.of(body).text('activeStreamId');
      const chat = await findChat(deps, call, namedChat(call));
      const runId = chat?.activeRunId ?? null;
      const isMeant = streamId === null || streamId === runId || (runId !== null && streamId === toMessageId(runId));
      // A run that started after the page decided to stop is another one.
      if (runId === null || !isMeant) return call.reply.code(204).send();
      const result = await cancelRun(deps.cancel, call.scope, runId, 'immediate');
      return call.reply.code(result.status === 'cancelling' ? 202 : 200).send(result);
    },
  );
}

const namedChat = ({ request }: CompatibleCall) => (request.params as { readonly chatId: string }).chatId;

/** The stream for a request's run. If it continues the message with which the request ends, the client has the rest of it. */
async function answerStream(
  deps: CompatibleDeps,
  call: CompatibleCall,
  runId: RunId,
  { messages }: UiRequest,
): Promise<UiStream> {
  const last = messages.at(-1);
  const isContinued = last?.role === 'assistant';
  const stream = new UiStream({ messageId: isContinued ? last.id : null, fileUrl: fileUrl(deps, call) });
  if (!isContinued) return stream;
  const chain = await deps.continued(runId);
  await readContinued(deps, { stream, chain, isReplay: false }, call.request.principal.ownerId);
  return stream;
}

/** Sends the whole message that the run makes, from its first run on. */
async function replay(deps: CompatibleDeps, call: CompatibleCall, runId: RunId): Promise<void> {
  const chain = await deps.continued(runId);
  const first = chain[0]?.runId ?? runId;
  const stream = new UiStream({ messageId: toMessageId(first), fileUrl: fileUrl(deps, call) });
  await readContinued(deps, { stream, chain, isReplay: true }, call.request.principal.ownerId);
  followRun(deps, call, runId, stream);
}

/** The runs that a run continues, and the stream that shows the run. */
interface Earlier {
  readonly stream: UiStream;
  readonly chain: readonly ContinuedRun[];
  /** False if the reader has what these runs made. */
  readonly isReplay: boolean;
}

/** Reads the events of the runs that the run continues. */
async function readContinued(
  { eventLog, streams }: CompatibleDeps,
  { stream, chain, isReplay }: Earlier,
  ownerId: OwnerId,
): Promise<void> {
  for (const { runId, settlements } of chain) {
    for (let cursor = 0; ; ) {
      using _turn = await streams.turns.take(ownerId);
      const page = await eventLog.storedAfter(runId, cursor);
      const last = page?.events.at(-1);
      if (page === null || last === undefined) break;
      for (const event of page.events) stream.earlier.read(event);
      cursor = lastFrameId(last);
    }
    if (!isReplay) stream.forgetEarlier();
    stream.earlier.settle(settlements, isReplay);
  }
}

function fileUrl({ publicUrl }: CompatibleDeps, { request, scope }: CompatibleCall): (path: string) => string {
  const files = `${knownBase(request, publicUrl) ?? ''}/v2/integrations/${encodeURIComponent(scope.integrationId)}/files/content`;
  return (path) => `${files}?path=${encodeURIComponent(path)}`;
}
