import type { FastifyReply } from 'fastify';
import { Refusal } from '../../../../domain/refusal.ts';
import type { Meta } from '../../../../domain/run/events.ts';
import { cancelRun } from '../../../../runs/cancel-run.ts';
import { givenCursor, parseEventId } from '../../../event-cursor.ts';
import type { CompatibleDeps } from '../../compatible-deps.ts';
import type { CompatibleCall } from '../../compatible-route.ts';
import { followRun } from '../../follow-run.ts';
import { readEvents } from '../../read-events.ts';
import { type RunRow, readEarlierCalls } from './earlier-calls.ts';
import { toResponseId, toRunId } from './response-object.ts';
import { type ResponseContext, ResponseOutput, readEvent } from './response-output.ts';
import { ResponsesEncoder } from './responses-encoder.ts';

/** The run of the response that the path names. */
export async function findRun({ runReads }: Pick<CompatibleDeps, 'runReads'>, call: CompatibleCall): Promise<RunRow> {
  const { responseId } = call.request.params as { readonly responseId: string };
  const run = await runReads.row(call.scope, toRunId(responseId)).catch((error: unknown) => {
    throw error instanceof Refusal && error.code === 'run_not_found' ? noResponse() : error;
  });
  if (run.chat_deleted_at !== null || run.response_deleted_at !== null) throw noResponse();
  return run;
}

const noResponse = () => new Refusal('run_not_found', 'This integration has no such response; check its id.');

async function readContext(deps: CompatibleDeps, call: CompatibleCall, run: RunRow): Promise<ResponseContext> {
  return {
    agency: call.settings.agency,
    earlierCalls: await readEarlierCalls(deps, call, run),
    hidesSecrets: call.request.clientToken !== null,
  };
}

/** `GET /responses/{id}`: the object as it is now, or with `stream=true` the events. */
export async function getResponse(deps: CompatibleDeps, call: CompatibleCall): Promise<FastifyReply> {
  const run = await findRun(deps, call);
  const { stream = 'false', starting_after } = call.request.query as Readonly<Record<string, string | undefined>>;
  if (stream !== 'true') return sendResponse(deps, call, run.run_id);
  const after = givenCursor(starting_after);
  const sequence = after === null ? -1 : parseEventId(after);
  if (sequence === null) {
    throw new Refusal('invalid_request', '`starting_after` must be a `sequence_number`: an integer of at least 0.');
  }
  await checkCursor(deps, call, run, sequence);
  followRun(deps, call, run.run_id, new ResponsesEncoder(await readContext(deps, call, run), sequence));
  return call.reply;
}

/** Compacted events have other frames, and text after the point from which a later attempt continued is void. */
async function checkCursor(deps: CompatibleDeps, { request }: CompatibleCall, run: RunRow, sequence: number) {
  const { ownerId } = request.principal;
  if (sequence < 0) return;
  if (run.compacted_at !== null) throw new Refusal('cursor_too_old');
  if (run.attempt === 1) return;
  const seen = Math.floor(sequence / 2);
  for (const event of await readEvents(deps, run.run_id, ownerId)) {
    if (event.type === 'resumed' && seen > event.discardAfter && seen < event.id) throw new Refusal('cursor_void');
  }
}

/** Sends the response as it is now. */
export async function sendResponse(
  deps: CompatibleDeps,
  call: CompatibleCall,
  runId: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<FastifyReply> {
  const run = await deps.runReads.row(call.scope, runId);
  const output = new ResponseOutput(await readContext(deps, call, run));
  const { ownerId } = call.request.principal;
  for (const event of await readEvents(deps, run.run_id, ownerId)) readEvent(output, event);
  // The first flush has not stored `meta` yet.
  if (!output.hasBegun) output.begin(toMeta(run));
  return call.reply.headers(headers).type('application/json; charset=utf-8').send(output.json);
}

const toMeta = (run: RunRow): Meta => ({
  runId: run.run_id,
  chatId: run.chat_id,
  aliasChatId: null,
  usageRequestId: run.usage_request_id,
  consumerId: run.consumer_id,
  agent: run.agent,
  createdAt: run.created_at,
});

/** `POST /responses/{id}/cancel`: ends the run, and answers with the object. */
export async function cancelResponse(deps: CompatibleDeps, call: CompatibleCall): Promise<FastifyReply> {
  const { run_id: runId } = await findRun(deps, call);
  await cancelRun(deps.cancel, call.scope, runId, 'immediate');
  return sendResponse(deps, call, runId);
}

/** `DELETE /responses/{id}`: the response is not found from then on. The run and its usage remain. */
export async function deleteResponse(deps: CompatibleDeps, call: CompatibleCall) {
  const { run_id: runId } = await findRun(deps, call);
  if (!(await deps.runReads.deleteResponse(runId))) throw noResponse();
  return { id: toResponseId(runId), object: 'response', deleted: true };
}
