import type { RunId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { type ErrorCode, isUnavailable, type ScheduleRequest } from '../domain/schedule/schedule-inputs.ts';
import { tickRequest } from '../domain/schedule/tick-request.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import { type ClaimedSchedule, runOfTick } from '../store/queries/schedule-ticks.ts';
import { first, type Reads } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { AdmitRun, ReadRequest } from './ports.ts';

export type TickOutcome =
  | { readonly kind: 'run'; readonly runId: RunId }
  | { readonly kind: 'refusal'; readonly code: ErrorCode; readonly error: string }
  /** The same tick may succeed later. */
  | { readonly kind: 'retry'; readonly code: ErrorCode };

export interface AdmitTickDeps {
  readonly reads: Reads;
  readonly admit: AdmitRun;
  readonly readRequest: ReadRequest;
  readonly logger: Logger;
}

/** Starts the run of a tick, or finds it: the same tick never gets a second one. */
export async function admitTick(deps: AdmitTickDeps, row: ClaimedSchedule, tickMs: number): Promise<TickOutcome> {
  const { admit, readRequest, logger } = deps;
  const { owner_id: ownerId, integration_id: integrationId, schedule_id: scheduleId } = row;
  try {
    const request = JSON.parse(row.request_json) as ScheduleRequest;
    const names = tickRequest(scheduleId, tickMs);
    const { runId } = await admit(readRequest(request, { ownerId, integrationId, ...names, tickMs }));
    return { kind: 'run', runId };
  } catch (error) {
    if (error instanceof Refusal) return outcomeOfRefusal(deps, row, tickMs, error);
    if (!(error instanceof StoreUnavailable)) logger.error({ err: error, scheduleId }, 'a tick failed; trying again');
    return { kind: 'retry', code: error instanceof StoreUnavailable ? 'unavailable' : 'internal_error' };
  }
}

async function outcomeOfRefusal(
  deps: AdmitTickDeps,
  row: ClaimedSchedule,
  tickMs: number,
  { code, message }: Refusal,
): Promise<TickOutcome> {
  if (isUnavailable(code)) return { kind: 'retry', code };
  // The tick's own run looks like another request if the chat of the schedule was changed or deleted since it started.
  const runId = code === 'usage_request_id_reused' ? await findTickRun(deps.reads, row, tickMs) : null;
  return runId === null ? { kind: 'refusal', code, error: message } : { kind: 'run', runId };
}

/** The run that an earlier try of the tick has started, or null. */
export async function findTickRun(reads: Reads, row: ClaimedSchedule, tickMs: number): Promise<RunId | null> {
  const names = tickRequest(row.schedule_id, tickMs);
  const run = await first(reads.all(runOfTick, { integrationId: row.integration_id, ...names }));
  return run?.run_id ?? null;
}
