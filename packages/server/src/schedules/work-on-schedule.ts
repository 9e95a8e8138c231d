import type { RunId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import type { ErrorCode } from '../domain/schedule/schedule-inputs.ts';
import {
  type ClaimedSchedule,
  moveSchedule,
  recordTick,
  type ScheduleProgress,
} from '../store/queries/schedule-ticks.ts';
import type { Store, Tx } from '../store/store.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type AdmitTickDeps, admitTick, findTickRun, type TickOutcome } from './admit-tick.ts';
import { addRun, countRuns, type FailureCount, MAX_FAILURES } from './count-runs.ts';
import { planTicks } from './plan-ticks.ts';
import { readTiming } from './schedule-row.ts';
import { nextTick } from './tick-times.ts';

/** How soon the ends of runs are counted if they may pause the schedule. */
const COUNT_MS = 30_000;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

export interface WorkDeps extends AdmitTickDeps {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly nodeId: string;
  readonly now: () => number;
  /** Called in the transaction that pauses a schedule. */
  readonly onPaused: (tx: Tx, schedule: ClaimedSchedule, reason: string) => Promise<void>;
  /** Called after its commit. */
  readonly onPauseStored: (schedule: ClaimedSchedule) => void;
}

/** The last tick of a schedule, its next one, and the failures so far. */
interface Position {
  readonly last: number;
  readonly next: number | null;
  readonly count: FailureCount;
}

interface Change {
  readonly position: Position;
  readonly retry?: { readonly code: ErrorCode; readonly tries: number; readonly dueAt: number };
  readonly tick?: { readonly tickMs: number; readonly outcome: Exclude<TickOutcome, { kind: 'retry' }> };
  /** True if this node continues with another tick. */
  readonly keeps: boolean;
}

/**
 * Works on a due schedule that this node has claimed:
 *
 *   count runs ──▶ due tick ──(admitted or refused)──▶ recorded, next tick
 *       │             └──────(503)──▶ tried again, until the next tick
 *       └──(10 failures in a row)──▶ paused
 */
export async function workOnSchedule(deps: WorkDeps, row: ClaimedSchedule): Promise<void> {
  const now = deps.now();
  const timing = readTiming(row);
  const next = row.next_tick_at ?? nextTick(timing, row.last_tick_at);
  let position: Position = { last: row.last_tick_at, next, count: await countRuns(deps.reads, row) };
  if (next === null || next > now || position.count.failures >= MAX_FAILURES) {
    await move(deps, row, { position, keeps: false });
    return;
  }
  const due = { tickMs: next, catchUp: row.catch_up, isRetry: row.retry_code !== null };
  const plan = planTicks(timing, due, now);
  const ticks = plan.givenUp === null ? plan.run : [plan.givenUp, ...plan.run];
  if (ticks.length === 0) await move(deps, row, { position: { ...position, next: plan.next }, keeps: false });
  for (const [index, tickMs] of ticks.entries()) {
    const outcome = tickMs === plan.givenUp ? await giveUp(deps, row, tickMs) : await admitTick(deps, row, tickMs);
    const following = ticks[index + 1] ?? plan.next;
    if (outcome.kind === 'retry') {
      await move(deps, row, toRetry({ ...position, next: tickMs }, row, outcome.code, following, now));
      return;
    }
    const count =
      outcome.kind === 'run'
        ? addRun(position.count, outcome.runId)
        : { ...position.count, failures: position.count.failures + 1 };
    position = { last: tickMs, next: following, count };
    const keeps = index < ticks.length - 1 && count.failures < MAX_FAILURES;
    if (!(await move(deps, row, { position, tick: { tickMs, outcome }, keeps })) || !keeps) return;
  }
}

/** The outcome of a tick that is tried no more: an answer may have been lost, so there may be a run. */
async function giveUp(deps: WorkDeps, row: ClaimedSchedule, tickMs: number): Promise<TickOutcome> {
  const runId = await findTickRun(deps.reads, row, tickMs);
  if (runId !== null) return { kind: 'run', runId };
  const code = row.retry_code ?? 'unavailable';
  return { kind: 'refusal', code, error: new Refusal(code).message };
}

function toRetry(
  position: Position,
  row: ClaimedSchedule,
  code: ErrorCode,
  following: number | null,
  now: number,
): Change {
  const tries = position.next === row.next_tick_at ? row.tries + 1 : 1;
  const dueAt = now + Math.min(FIRST_RETRY_MS * 2 ** Math.min(tries - 1, 10), MAX_RETRY_MS);
  return { position, keeps: false, retry: { code, tries, dueAt: Math.min(dueAt, following ?? dueAt) } };
}

/** Stores a step. Resolves to false if this node has lost the schedule; a run is recorded all the same. */
async function move(deps: WorkDeps, row: ClaimedSchedule, change: Change): Promise<boolean> {
  const { store, metrics, nodeId, now } = deps;
  const { tick } = change;
  const progress = toProgress(row, change, nodeId, now());
  const reason = progress.paused_reason;
  const isOurs = await store.transact('schedule', async (tx) => {
    const moved = (await tx.run(moveSchedule, { ...progress, nodeId })) === 1;
    if (tick !== undefined && (moved || tick.outcome.kind === 'run')) {
      await tx.run(recordTick, toRecord(row, tick, now()));
    }
    if (moved && reason !== null) await deps.onPaused(tx, row, reason);
    return moved;
  });
  if (!isOurs) return false;
  if (tick !== undefined) metrics.scheduleTicks.add({ outcome: tick.outcome.kind });
  if (reason !== null) deps.onPauseStored(row);
  return true;
}

function toRecord(row: ClaimedSchedule, { tickMs, outcome }: NonNullable<Change['tick']>, now: number) {
  const base = { schedule_id: row.schedule_id, tick_at: tickMs, recorded_at: now };
  const runId: RunId | null = outcome.kind === 'run' ? outcome.runId : null;
  const [code, error] = outcome.kind === 'run' ? [null, null] : [outcome.code, JSON.stringify(outcome.error)];
  return { ...base, run_id: runId, code, error_json: error };
}

function toProgress(row: ClaimedSchedule, change: Change, nodeId: string, now: number): ScheduleProgress {
  const { position, retry, tick, keeps } = change;
  const { last, next, count } = position;
  const isPaused = next !== null && count.failures >= MAX_FAILURES;
  const isOver = next === null || isPaused;
  const mayPause = count.failures + count.uncounted.length >= MAX_FAILURES;
  const dueAt = retry?.dueAt ?? (next !== null && mayPause ? Math.min(next, now + COUNT_MS) : next);
  return {
    schedule_id: row.schedule_id,
    active: Number(!isOver),
    paused_reason: isPaused ? pausedReason(tick) : null,
    last_tick_at: last,
    next_tick_at: isOver ? null : next,
    due_at: isOver ? null : dueAt,
    tries: retry?.tries ?? 0,
    retry_code: retry?.code ?? null,
    failures: count.failures,
    uncounted_runs_json: JSON.stringify(count.uncounted),
    claimed_by: keeps && !isOver ? nodeId : null,
  };
}

function pausedReason(tick: Change['tick']): string {
  const last = tick?.outcome.kind === 'refusal' ? ` The last answer was ${tick.outcome.code}.` : '';
  return `${MAX_FAILURES} ticks in a row were refused, or their runs failed.${last}`;
}
