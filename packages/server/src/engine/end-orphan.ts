import { attemptBase, eventWidth, lastFrameId, type RunEvent, type RunItem } from '../domain/events.ts';
import type { RunError } from '../domain/run-state.ts';
import { encodeChunk } from '../eventlog/chunk-codec.ts';
import { endRun } from '../runs/end-run.ts';
import { userMessageOfRun } from '../store/queries/chats.ts';
import { journalOf, type UnfinishedRun, unfinishedRun } from '../store/queries/takeover.ts';
import { first, type Tx } from '../store/store.ts';
import type { EngineDeps } from './deps.ts';
import { endEvents } from './end-events.ts';
import { type EndReport, reportEnd } from './report-end.ts';
import { foldItems, lastKeptId, spentSoFar } from './stored-run.ts';

export type EndDeps = Pick<EngineDeps, 'store' | 'eventLog' | 'agencies' | 'prices' | 'logger' | 'metrics'>;

/** Ends a run that nothing here runs any more, with this error unless somebody had cancelled it. */
export async function endOrphan(deps: EndDeps, runId: string, error: RunError): Promise<void> {
  const report = await deps.store.transact('takeover', async (tx) => {
    const run = await first(tx.all(unfinishedRun, { runId }));
    return run === undefined ? null : writeEnd(tx, deps, run, error);
  });
  if (report !== null) reportEnd(deps, report);
}

/** T6 and T4 in one, under the next attempt: what is stored counts, and the text so far stays. */
export async function writeEnd(tx: Tx, deps: EndDeps, run: UnfinishedRun, fault: RunError): Promise<EndReport> {
  const stored = await deps.eventLog.allStored(tx, run.run_id);
  const keptId = lastKeptId(run.attempt, await tx.all(journalOf, { runId: run.run_id }));
  const message = await first(tx.all(userMessageOfRun, { chatKey: run.chat_key, runId: run.run_id }));
  const text = message === undefined ? '' : (JSON.parse(message.content_json) as string);
  const items: RunItem[] = [
    { kind: 'user', agent: run.agent, text, timestamp: run.created_at * 1000 },
    ...foldItems(stored),
  ];
  const cancelled = run.cancel_requested_at !== null;
  const error = cancelled ? null : fault;
  const status = cancelled ? 'cancelled' : 'failed';
  const instructions = deps.agencies.agent(run.agency, run.agent)?.definition.instructions ?? '';
  const { usage, byModel } = spentSoFar(run, instructions, stored, keptId);
  const attempt = run.attempt + 1;
  const lastStored = stored.at(-1);
  const discardAfter = lastStored === undefined ? 0 : lastFrameId(lastStored);
  let id = attemptBase(attempt) + 1;
  const events: RunEvent[] = [
    { type: 'resumed' as const, runId: run.run_id, attempt, discardAfter },
    ...endEvents({ runId: run.run_id, chatId: run.chat_id, status, error, items, usage }),
  ].map((body) => {
    const event = { ...body, id };
    id += eventWidth(body);
    return event;
  });
  let answer = '';
  for (const item of items) if (item.kind === 'message' && item.callerAgent === null) answer += item.text;
  const startedAt = run.started_at ?? run.created_at;
  await endRun(tx, {
    runId: run.run_id,
    integrationId: run.integration_id,
    consumerId: run.consumer_id,
    chatKey: run.chat_key,
    agent: run.agent,
    day: run.day,
    attempt: run.attempt,
    nextAttempt: attempt,
    status,
    error,
    text: answer,
    usage,
    byModel,
    prices: deps.prices,
    steps: run.step,
    lastStep: null,
    chunks: [{ firstId: attemptBase(attempt) + 1, lastId: id - 1, data: encodeChunk(events) }],
    lastEventId: id - 1,
    startedAt,
  });
  return { runId: run.run_id, requestId: null, attempt, status, error, usage, startedAt };
}
