import { findFirstOutput } from '../../agent/progress.ts';
import { type ChangedFile, changedFiles } from '../../domain/file/changed-file.ts';
import type { RunId } from '../../domain/ids.ts';
import type { UsageTotals } from '../../domain/model/usage.ts';
import { NO_TRACE } from '../../domain/request-trace.ts';
import { attemptBase, eventWidth, lastFrameId, type RunEvent, type RunItem } from '../../domain/run/events.ts';
import type { RunError } from '../../domain/run/run-state.ts';
import { isOwnStep } from '../../domain/run/step.ts';
import { encodeChunk } from '../../eventlog/chunk-codec.ts';
import { endRun, type RunOutcome } from '../../runs/end-run.ts';
import { journalledStep } from '../../runs/journal.ts';
import { lastStoredId } from '../../store/queries/eventlog.ts';
import { getJournal, type UnfinishedRun, unfinishedRun } from '../../store/queries/takeover.ts';
import { NODE_ALIVE } from '../../store/schema.ts';
import { first, type Tx } from '../../store/store.ts';
import type { PromptSetting } from '../build-prompt.ts';
import type { EngineDeps } from '../deps.ts';
import { endEvents, reportEnd } from '../run-end.ts';
import { inputEstimate } from './estimate-input.ts';
import { readOriginal } from './original-run.ts';
import {
  foldItems,
  runIdentity,
  spentSoFar,
  storedEvents,
  storedMessage,
  storedTotals,
  storeMeta,
} from './stored-run.ts';

type EndParts =
  | 'store'
  | 'eventLog'
  | 'earlierNodes'
  | 'outbox'
  | 'agencies'
  | 'models'
  | 'prices'
  | 'logger'
  | 'metrics';

export interface EndDeps extends Pick<EngineDeps, EndParts> {
  readonly prompt: Pick<PromptSetting, 'windowTokens'>;
}

/** The end of an orphan that is written, and reported after its commit. */
export interface EndedOrphan {
  readonly outcome: RunOutcome;
  readonly attempt: number;
  readonly startedAt: number;
}

export function reportEndedOrphan(deps: EndDeps, { outcome, attempt, startedAt }: EndedOrphan): void {
  deps.outbox.committed(outcome.run.integrationId);
  reportEnd(deps, outcome, { attempt, startedAt });
}

/** Ends a run that no process executes any more: as cancelled if a caller has cancelled it, otherwise with this error. */
export async function endOrphan(deps: EndDeps, runId: RunId, error: RunError): Promise<void> {
  const end = await deps.store.transact('takeover', async (tx) => {
    const run = await first(tx.all(unfinishedRun, { runId }));
    if (run === undefined) return null;
    await readOriginal(tx, run);
    return writeEnd(tx, deps, run, error);
  });
  if (end !== null) reportEndedOrphan(deps, end);
}

/** Ends an orphan of which only the row can be read. Returns false if the run is no orphan any more. */
export async function endUnreadableOrphan(deps: EndDeps, runId: RunId, error: RunError): Promise<boolean> {
  const end = await deps.store.transact('takeover', async (tx) => {
    const run = await first(tx.all(unfinishedRun, { runId }));
    if (run === undefined || run.node_dead === NODE_ALIVE) return null;
    const readable = { ...run, by_model_json: readableList(run.by_model_json) };
    const accepted = hasModelStep(await tx.all(getJournal, { runId }));
    const lastId = (await first(tx.all(lastStoredId, { runId })))?.last_id ?? (await storeMeta(tx, run)).id;
    const items: RunItem[] = [{ kind: 'user', agent: run.agent, text: '', timestamp: run.created_at * 1000 }];
    return writeEnd(tx, deps, run, error, {
      items,
      files: [],
      lastId,
      accepted,
      firstOutputAt: null,
      ...storedTotals(readable),
    });
  });
  if (end !== null) reportEndedOrphan(deps, end);
  return end !== null;
}

function readableList(json: string): string {
  try {
    return Array.isArray(JSON.parse(json)) ? json : '[]';
  } catch {
    return '[]';
  }
}

/** What is stored of an orphan. */
interface StoredProgress extends UsageTotals {
  readonly items: readonly RunItem[];
  readonly files: readonly ChangedFile[];
  readonly lastId: number;
  readonly accepted: boolean;
  /** In milliseconds since 1970; null if no model has produced output, or if it is not known when. */
  readonly firstOutputAt: number | null;
}

/** True if a model accepted a call. A journal can also begin with a call that the caller approved. */
const hasModelStep = (journal: readonly { readonly kind: string }[]) =>
  journal.some(({ kind }) => kind === 'model' || kind === 'summary');

/** The time of the first item of a model, which events of a step have that is not finished. */
function toFirstOutput(items: readonly RunItem[]): number | null {
  const first = items.find(({ kind }) => kind !== 'user' && kind !== 'tool_output');
  return first === undefined ? null : Math.floor(first.timestamp / 1000);
}

async function readProgress(tx: Tx, deps: EndDeps, run: UnfinishedRun): Promise<StoredProgress> {
  const stored = await storedEvents(tx, deps, run);
  const journal = (await tx.all(getJournal, { runId: run.run_id })).map(journalledStep).filter(isOwnStep);
  const { message } = await storedMessage(tx, run);
  const items: RunItem[] = [
    { kind: 'user', agent: run.agent, text: message, timestamp: run.created_at * 1000 },
    ...foldItems(stored),
  ];
  const lastStored = stored.at(-1);
  const lastId = lastStored === undefined ? 0 : lastFrameId(lastStored);
  const spent = await spentSoFar(run, stored, journal, inputEstimate(tx, deps, run, stored));
  const accepted = hasModelStep(journal);
  const firstOutputAt = findFirstOutput(journal) ?? toFirstOutput(items);
  return { items, files: changedFiles(journal), lastId, accepted, firstOutputAt, ...spent };
}

/** T6 and T4 in one transaction, under the next attempt. What is stored counts, and the text so far stays. */
export async function writeEnd(
  tx: Tx,
  deps: EndDeps,
  row: UnfinishedRun,
  fault: RunError,
  progress?: StoredProgress,
): Promise<EndedOrphan> {
  const stored = progress ?? (await readProgress(tx, deps, row));
  const { items, files, accepted, usage, byModel, firstOutputAt, lastId: discardAfter } = stored;
  const isCancelled = row.cancel_requested_at !== null;
  const attempt = row.attempt + 1;
  const startedAt = row.started_at ?? row.created_at;
  let text = '';
  for (const item of items) if (item.kind === 'message' && item.callerAgent === null) text += item.text;
  const outcome: RunOutcome = {
    run: { ...runIdentity(row), attempt: row.attempt, nodeId: row.node_id, trace: NO_TRACE },
    status: isCancelled ? 'cancelled' : 'failed',
    error: isCancelled ? null : fault,
    providerStatus: null,
    items,
    text,
    output: null,
    questions: [],
    files,
    // The attempt that ends the run calls no model, so only a journalled model step counts.
    accepted,
    usage,
    byModel,
    steps: row.step,
    firstTokenMs: firstOutputAt === null ? null : Math.max(0, firstOutputAt - row.created_at),
    continues: row.continues !== null,
  };
  const firstId = attemptBase(attempt) + 1;
  let id = firstId;
  const bodies = [{ type: 'resumed' as const, runId: row.run_id, attempt, discardAfter }, ...endEvents(outcome)];
  const events = bodies.map((body): RunEvent => {
    const event = { ...body, id };
    id += eventWidth(body);
    return event;
  });
  const chunks = [{ first_id: firstId, last_id: id - 1, data: encodeChunk(events) }];
  await endRun(tx, deps, outcome, { attempt, lastStep: null, unfinished: [], chunks, lastEventId: id - 1, startedAt });
  return { outcome, attempt, startedAt };
}
