import { estimatedUsage } from '../../agent/progress.ts';
import { parseSandboxFiles } from '../../domain/file/sandbox-file.ts';
import type { RunId } from '../../domain/ids.ts';
import {
  addModelUsage,
  addUsage,
  type ModelUsage,
  type Usage,
  type UsageTotals,
  usageFromRow,
} from '../../domain/model/usage.ts';
import type { RunIdentity } from '../../domain/run/admitted-run.ts';
import {
  attemptBase,
  type Meta,
  type OutputItem,
  type RunEvent,
  type RunItem,
  type VoidOutput,
} from '../../domain/run/events.ts';
import type { JournalledStep } from '../../domain/run/step.ts';
import { encodeChunk } from '../../eventlog/chunk-codec.ts';
import { userMessageOfRun } from '../../store/queries/chats.ts';
import { insertChunk } from '../../store/queries/eventlog.ts';
import type { StepRow } from '../../store/queries/steps.ts';
import type { UnfinishedRun } from '../../store/queries/takeover.ts';
import { first, type Tx } from '../../store/store.ts';
import type { EngineDeps } from '../deps.ts';

export const runIdentity = (row: UnfinishedRun): RunIdentity => ({
  runId: row.run_id,
  integrationId: row.integration_id,
  consumerId: row.consumer_id,
  chatKey: row.chat_key,
  chatId: row.chat_id,
  agency: row.agency,
  agent: row.agent,
  agencyVersion: row.agency_version,
  day: row.day,
  createdAt: row.created_at,
  rerunOf: row.rerun_of,
});

/** Reads the message that the run answers. Returns an empty one if its row is missing. */
export async function storedMessage(tx: Tx, run: UnfinishedRun) {
  const row = await first(tx.all(userMessageOfRun, { chatKey: run.chat_key, runId: run.run_id }));
  return {
    message: row === undefined ? '' : (JSON.parse(row.content_json) as string),
    sandboxFiles: parseSandboxFiles(row?.sandbox_files_json ?? null),
  };
}

/**
 * Reads an unfinished run's stored events. If its node died before the first flush, there are none: then `meta` is
 * stored now, so that the run has its first event.
 */
export async function storedEvents(
  tx: Tx,
  { eventLog }: Pick<EngineDeps, 'eventLog'>,
  run: UnfinishedRun,
): Promise<RunEvent[]> {
  const events = await eventLog.allStored(tx, run.run_id);
  return events.length > 0 ? events : [await storeMeta(tx, run)];
}

/** Rebuilds `meta` as admission made it, and stores it. Admission itself stores a `meta` with ignored fields. */
export async function storeMeta(tx: Tx, run: UnfinishedRun): Promise<RunEvent> {
  const meta: Meta = {
    runId: run.run_id,
    chatId: run.chat_id,
    aliasChatId: run.chat_alias,
    usageRequestId: run.usage_request_id,
    consumerId: run.consumer_id,
    agent: run.agent,
    createdAt: run.created_at,
  };
  const opening: RunEvent = { type: 'meta', meta, id: 1 };
  await storeOpening(tx, run.run_id, opening);
  return opening;
}

/** Stores the event that opens an attempt, in its own chunk. Nothing changes if it is stored so already. */
export async function storeOpening(tx: Tx, runId: RunId, opening: RunEvent): Promise<void> {
  const { id } = opening;
  await tx.run(insertChunk, { run_id: runId, first_id: id, last_id: id, data: encodeChunk([opening]) });
}

/**
 * The last event that the next attempt keeps: the last event of a journalled step, or the event that opened the orphaned
 * attempt (`meta` or `resumed`).
 */
export function lastKeptId(attempt: number, journal: readonly StepRow[]): number {
  return Math.max(attemptBase(attempt) + 1, ...journal.map((row) => row.last_event_id));
}

/**
 * The items up to `keptId` that no journalled step contains: another agent's response was open when a step of the run was
 * stored. The next attempt asks that agent again, so these items are never finished.
 */
export function voidItems(events: readonly RunEvent[], journal: readonly JournalledStep[], keptId: number): string[] {
  const kept = new Set(journal.flatMap(({ output }) => output.map((item) => ('id' in item ? item.id : ''))));
  const voided = new Set<string>();
  for (const event of events) {
    if (event.id > keptId) break;
    if (event.type === 'item_added' && !kept.has(event.item.id)) voided.add(event.item.id);
    // An earlier attempt has reported these.
    if (event.type === 'resumed') for (const id of event.voidItems ?? []) voided.delete(id);
  }
  return [...voided];
}

/** The root agent's texts that began after `keptId`, with texts of earlier attempts, whose `resumed` is deleted too. */
export const voidOutputs = (events: readonly RunEvent[], keptId: number): VoidOutput[] =>
  events.flatMap((event): readonly VoidOutput[] => {
    if (event.id <= keptId) return [];
    if (event.type === 'resumed') return event.voidOutputs ?? [];
    if (event.type !== 'item_added' || event.item.callerAgent !== null) return [];
    const { id, kind } = event.item;
    return kind === 'tool_call' ? [] : [{ id, kind }];
  });

/** Rebuilds the run's items from its stored events: texts from their deltas, and the tool outputs. */
export function foldItems(events: readonly RunEvent[]): RunItem[] {
  const voided = new Set(events.flatMap((event) => (event.type === 'resumed' ? (event.voidItems ?? []) : [])));
  const items: RunItem[] = [];
  const open = new Map<string, OutputItem>();
  for (const event of events) {
    if (event.type === 'item_added' && voided.has(event.item.id)) continue;
    if (event.type === 'item_added') {
      const item: OutputItem = { ...event.item, text: '', complete: false };
      open.set(item.id, item);
      items.push(item);
    } else if (event.type === 'delta') {
      const item = open.get(event.item.id);
      if (item !== undefined) item.text += event.text;
    } else if (event.type === 'item_done') {
      const item = open.get(event.item.id);
      if (item !== undefined) item.complete = event.item.complete;
    } else if (event.type === 'run_item' && event.item.kind === 'tool_output') items.push(event.item);
  }
  return items;
}

/** A model call whose usage is in no journalled step. */
export interface OpenCall {
  readonly loop: string;
  readonly model: string;
  readonly firstId: number;
  /** Undefined if a node of the version before made the call. */
  readonly inputBytes: number | undefined;
  outputBytes: number;
  reported: Usage | null;
}

/** The parts of a journalled step that show which model calls are stored with it. */
type CoveringStep = Pick<JournalledStep, 'kind' | 'loop' | 'callId' | 'lastEventId'>;

/**
 * The model calls of the attempt whose usage is in no journalled step. A model step covers the calls of its loop before it,
 * also failed ones, and the outcome of a `send_message` covers the loop that it began (see `Progress.settle`).
 */
function openModelCalls(
  attempt: number,
  stored: readonly RunEvent[],
  journal: readonly CoveringStep[],
): readonly OpenCall[] {
  const covered = new Map<string, number>();
  for (const { kind, loop, callId, lastEventId } of journal) {
    const of = kind === 'model' ? loop : (callId ?? '');
    covered.set(of, Math.max(lastEventId, covered.get(of) ?? 0));
  }
  const calls: OpenCall[] = [];
  const newest = new Map<string, OpenCall>();
  for (const event of stored) {
    if (event.id <= attemptBase(attempt)) continue;
    if (event.type === 'response_created') {
      const { response, id: firstId, inputBytes } = event;
      const { model, loop = '' } = response;
      const call: OpenCall = { loop, model, firstId, inputBytes, outputBytes: 0, reported: null };
      newest.set(loop, call);
      if (event.id > (covered.get(loop) ?? 0)) calls.push(call);
    } else if (event.type === 'delta') {
      const call = newest.get(event.item.loop ?? '');
      if (call !== undefined) call.outputBytes += Buffer.byteLength(event.text);
    } else if (event.type === 'response_done') {
      const call = newest.get(event.response.loop ?? '');
      if (call !== undefined) call.reported = event.usage;
    }
  }
  return calls;
}

/** The usage in a run's row: that of its journalled steps. */
export const storedTotals = (run: UnfinishedRun): UsageTotals => ({
  usage: usageFromRow(run),
  byModel: JSON.parse(run.by_model_json) as ModelUsage[],
});

/**
 * The usage of a run up to its last stored event (`contract-6-charged-cut-step`): the sum in its row, plus the model calls
 * that were under way. For each of them counts what the provider reported, or else an estimate from the sizes of its input and
 * its text. A call of which no event was stored is not counted; it is at most 0.1 s old. `estimate` returns the input of a
 * call whose size is not stored.
 */
export async function spentSoFar(
  run: UnfinishedRun,
  stored: readonly RunEvent[],
  journal: readonly CoveringStep[],
  estimate: (call: OpenCall) => Promise<number>,
): Promise<UsageTotals> {
  let { usage, byModel } = storedTotals(run);
  for (const call of openModelCalls(run.attempt, stored, journal)) {
    const cut = call.reported ?? estimatedUsage(call.inputBytes ?? (await estimate(call)), call.outputBytes);
    usage = addUsage(usage, cut);
    byModel = addModelUsage(byModel, call.model, cut);
  }
  return { usage, byModel };
}
