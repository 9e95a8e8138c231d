import { estimatedUsage } from '../agent/progress.ts';
import {
  attemptBase,
  eventWidth,
  lastFrameId,
  type OutputItem,
  type RunEvent,
  type RunItem,
} from '../domain/events.ts';
import type { RunError } from '../domain/run-state.ts';
import { addModelUsage, addUsage, IMAGE_TEXT_BYTES, type ModelUsage } from '../domain/usage.ts';
import { encodeChunk } from '../eventlog/chunk-codec.ts';
import { endRun } from '../runs/end-run.ts';
import { userMessageOfRun } from '../store/queries/chats.ts';
import { unfinishedRun, unfinishedRuns } from '../store/queries/runs.ts';
import { first, type Tx } from '../store/store.ts';
import type { EngineDeps } from './deps.ts';
import { endEvents } from './end-events.ts';
import { type EndReport, reportEnd } from './report-end.ts';

/**
 * On the embedded store the data folder's lock is the lease: whoever holds it finds every unfinished run orphaned, by
 * definition. Each is ended under the next attempt (T6 and T4 in one): as cancelled where somebody had asked for
 * that, otherwise as `run_interrupted`.
 */
export async function recoverOrphans(deps: RecoveryDeps): Promise<number> {
  const { store, logger } = deps;
  let count = 0;
  for (;;) {
    const runs = await store.reads.all(unfinishedRuns, {});
    if (runs.length === 0) return count;
    await Promise.all(runs.map((run) => endOrphan(deps, run.run_id, INTERRUPTED)));
    count += runs.length;
    for (const { run_id: runId } of runs) logger.warn({ runId }, 'a run was found without its process and ended');
  }
}

export type RecoveryDeps = Pick<EngineDeps, 'store' | 'eventLog' | 'agencies' | 'prices' | 'logger' | 'metrics'>;

const INTERRUPTED: RunError = {
  code: 'run_interrupted',
  message: 'The server stopped while this run was under way; send the message again, with a new `usageRequestId`.',
};

type Orphan = Awaited<ReturnType<ReturnType<(typeof unfinishedRun)['build']>['execute']>>[number];

/** Ends a run that nothing here runs any more, with this error unless somebody had cancelled it. */
export async function endOrphan(deps: RecoveryDeps, runId: string, error: RunError): Promise<void> {
  const report = await deps.store.transact('takeover', async (tx) => {
    const run = await first(tx.all(unfinishedRun, { runId }));
    return run === undefined ? null : takeOver(tx, deps, run, error);
  });
  if (report !== null) reportEnd(deps, report);
}

async function takeOver(tx: Tx, deps: RecoveryDeps, run: Orphan, fault: RunError): Promise<EndReport> {
  const stored = await deps.eventLog.allStored(tx, run.run_id);
  const message = await first(tx.all(userMessageOfRun, { chatKey: run.chat_key, runId: run.run_id }));
  const items = foldItems(stored);
  items.unshift({
    kind: 'user',
    agent: run.agent,
    text: message === undefined ? '' : (JSON.parse(message.content_json) as string),
    timestamp: run.created_at * 1000,
  });
  const cancelled = run.cancel_requested_at !== null;
  const error = cancelled ? null : fault;
  const status = cancelled ? 'cancelled' : 'failed';
  const instructions = deps.agencies.agent(run.agency, run.agent)?.definition.instructions ?? '';
  const spent = usageSoFar(run, Buffer.byteLength(instructions), stored);
  const nextAttempt = run.attempt + 1;
  const lastStored = stored.at(-1);
  const discardAfter = lastStored === undefined ? 0 : lastFrameId(lastStored);
  let id = attemptBase(nextAttempt) + 1;
  const events: RunEvent[] = [
    { type: 'resumed' as const, runId: run.run_id, attempt: nextAttempt, discardAfter },
    ...endEvents({ runId: run.run_id, chatId: run.chat_id, status, error, items, usage: spent.usage }),
  ].map((body) => {
    const event = { ...body, id };
    id += eventWidth(body);
    return event;
  });
  let text = '';
  for (const item of items) if (item.kind === 'message' && item.callerAgent === null) text += item.text;
  await endRun(tx, {
    runId: run.run_id,
    integrationId: run.integration_id,
    consumerId: run.consumer_id,
    chatKey: run.chat_key,
    agent: run.agent,
    day: run.day,
    attempt: run.attempt,
    nextAttempt,
    status,
    error,
    text,
    usage: spent.usage,
    byModel: spent.byModel,
    prices: deps.prices,
    steps: run.step,
    lastStep: null,
    chunks: [{ firstId: attemptBase(nextAttempt) + 1, lastId: id - 1, data: encodeChunk(events) }],
    lastEventId: id - 1,
    startedAt: run.started_at ?? run.created_at,
  });
  return {
    runId: run.run_id,
    requestId: null,
    attempt: nextAttempt,
    status,
    error,
    usage: spent.usage,
    startedAt: run.started_at ?? run.created_at,
  };
}

/** What was said and done up to the last stored event, put together from its deltas. */
function foldItems(events: readonly RunEvent[]): RunItem[] {
  const items: RunItem[] = [];
  const open = new Map<string, OutputItem>();
  for (const event of events) {
    if (event.type === 'item_added') {
      const item: OutputItem = { ...event.item, text: '', complete: false };
      open.set(item.id, item);
      items.push(item);
    } else if (event.type === 'delta') {
      const item = open.get(event.item.id);
      if (item !== undefined) item.text += event.text;
    } else if (event.type === 'item_done') {
      const item = open.get(event.item.id);
      if (item !== undefined) item.complete = true;
    } else if (event.type === 'run_item' && event.item.kind === 'tool_output') items.push(event.item);
  }
  return items;
}

/** The finished steps as journalled; of the one cut short an estimate, from the text that reached the log. */
function usageSoFar(run: Orphan, instructionBytes: number, events: readonly RunEvent[]) {
  const usage = {
    requestCount: run.request_count,
    inputTokens: run.input_tokens,
    cachedTokens: run.cached_tokens,
    outputTokens: run.output_tokens,
    reasoningTokens: run.reasoning_tokens,
  };
  const byModel = JSON.parse(run.by_model_json) as ModelUsage[];
  let model: string | null = null;
  let outputBytes = 0;
  let journalled = 0;
  for (const event of events) {
    if (event.type === 'response_created') {
      journalled += 1;
      model = event.response.model;
      outputBytes = 0;
    } else if (event.type === 'delta') outputBytes += Buffer.byteLength(event.text);
  }
  if (model === null || journalled <= run.request_count) return { usage, byModel };
  const inputBytes = instructionBytes + run.text_bytes + run.images * IMAGE_TEXT_BYTES;
  const cut = estimatedUsage(inputBytes, outputBytes);
  return { usage: addUsage(usage, cut), byModel: addModelUsage(byModel, model, cut) };
}
