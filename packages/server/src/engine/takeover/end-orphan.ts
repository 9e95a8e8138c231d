import { attemptBase, eventWidth, lastFrameId, type RunEvent, type RunItem } from '../../domain/events.ts';
import { NO_TRACE } from '../../domain/request-trace.ts';
import type { RunError } from '../../domain/run-state.ts';
import { type SandboxFile, sandboxFilesOf, shownMessage } from '../../domain/sandbox-file.ts';
import { encodeChunk } from '../../eventlog/chunk-codec.ts';
import { endRun } from '../../runs/end-run.ts';
import { userMessageOfRun } from '../../store/queries/chats.ts';
import { lastStoredId } from '../../store/queries/eventlog.ts';
import { journalOf, type UnfinishedRun, unfinishedRun } from '../../store/queries/takeover.ts';
import { NODE_ALIVE } from '../../store/schema.ts';
import { first, type Tx } from '../../store/store.ts';
import type { PromptSetting } from '../build-prompt.ts';
import type { EngineDeps } from '../deps.ts';
import { endEvents } from '../end-events.ts';
import { type EndReport, reportEnd } from '../report-end.ts';
import { foldItems, lastKeptId, type PromptParts, type Spent, spentSoFar } from './stored-run.ts';

export interface EndDeps extends Pick<EngineDeps, 'store' | 'eventLog' | 'agencies' | 'prices' | 'logger' | 'metrics'> {
  readonly prompt: Pick<PromptSetting, 'windowTokens'>;
}

/** What a run's model was shown besides the earlier turns. */
export function promptParts(
  deps: EndDeps,
  run: UnfinishedRun,
  message: string,
  sandboxFiles: readonly SandboxFile[],
): PromptParts {
  const instructions = deps.agencies.agent(run.agency, run.agent)?.definition.instructions ?? '';
  return { instructions, message, shown: shownMessage(message, sandboxFiles), windowTokens: deps.prompt.windowTokens };
}

/** Ends a run that nothing here runs any more, with this error unless somebody had cancelled it. */
export async function endOrphan(deps: EndDeps, runId: string, error: RunError): Promise<void> {
  const report = await deps.store.transact('takeover', async (tx) => {
    const run = await first(tx.all(unfinishedRun, { runId }));
    return run === undefined ? null : writeEnd(tx, deps, run, error);
  });
  if (report !== null) reportEnd(deps, report);
}

/** Ends an orphan of which nothing but its row can be read. Null where it is none any more. */
export async function endUnreadable(deps: EndDeps, runId: string, error: RunError): Promise<EndReport | null> {
  const report = await deps.store.transact('takeover', async (tx) => {
    const run = await first(tx.all(unfinishedRun, { runId }));
    if (run === undefined || run.node_dead === NODE_ALIVE) return null;
    const spent = spentSoFar(
      { ...run, by_model_json: readableList(run.by_model_json) },
      promptParts(deps, run, '', []),
      [],
      0,
    );
    const lastId = (await first(tx.all(lastStoredId, { runId })))?.last_id ?? 0;
    const items: RunItem[] = [{ kind: 'user', agent: run.agent, text: '', timestamp: run.created_at * 1000 }];
    return writeEnd(tx, deps, run, error, { items, lastId, ...spent });
  });
  if (report !== null) reportEnd(deps, report);
  return report;
}

function readableList(json: string): string {
  try {
    return Array.isArray(JSON.parse(json)) ? json : '[]';
  } catch {
    return '[]';
  }
}

/** What is left of a run. */
interface Remains extends Spent {
  readonly items: readonly RunItem[];
  readonly lastId: number;
}

async function remainsOf(tx: Tx, deps: EndDeps, run: UnfinishedRun): Promise<Remains> {
  const stored = await deps.eventLog.allStored(tx, run.run_id);
  const keptId = lastKeptId(run.attempt, await tx.all(journalOf, { runId: run.run_id }));
  const message = await first(tx.all(userMessageOfRun, { chatKey: run.chat_key, runId: run.run_id }));
  const text = message === undefined ? '' : (JSON.parse(message.content_json) as string);
  const items: RunItem[] = [
    { kind: 'user', agent: run.agent, text, timestamp: run.created_at * 1000 },
    ...foldItems(stored),
  ];
  const lastStored = stored.at(-1);
  const lastId = lastStored === undefined ? 0 : lastFrameId(lastStored);
  const parts = promptParts(deps, run, text, sandboxFilesOf(message?.sandbox_files_json ?? null));
  return { items, lastId, ...spentSoFar(run, parts, stored, keptId) };
}

/** T6 and T4 in one, under the next attempt: what is stored counts, and the text so far stays. */
export async function writeEnd(
  tx: Tx,
  deps: EndDeps,
  run: UnfinishedRun,
  fault: RunError,
  given?: Remains,
): Promise<EndReport> {
  const { items, usage, byModel, lastId: discardAfter } = given ?? (await remainsOf(tx, deps, run));
  const cancelled = run.cancel_requested_at !== null;
  const error = cancelled ? null : fault;
  const status = cancelled ? 'cancelled' : 'failed';
  const attempt = run.attempt + 1;
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
    // The attempt that ends the run calls no model, so only a journalled step counts.
    accepted: run.step > 0,
    usage,
    byModel,
    prices: deps.prices,
    steps: run.step,
    lastStep: null,
    chunks: [{ firstId: attemptBase(attempt) + 1, lastId: id - 1, data: encodeChunk(events) }],
    lastEventId: id - 1,
    startedAt,
  });
  return {
    runId: run.run_id,
    trace: NO_TRACE,
    integrationId: run.integration_id,
    consumerId: run.consumer_id,
    model: deps.agencies.agent(run.agency, run.agent)?.model ?? null,
    providerStatus: null,
    attempt,
    status,
    error,
    usage,
    startedAt,
  };
}
