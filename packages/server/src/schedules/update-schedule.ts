import type { Audit } from '../audit/audit.ts';
import { Refusal } from '../domain/refusal.ts';
import type { ScheduleChange } from '../domain/schedule/schedule-inputs.ts';
import { keepIntegration } from '../store/queries/locks.ts';
import { lockSchedule, type ScheduleRow, scheduleById, updateSchedule } from '../store/queries/schedules.ts';
import { first, type Store } from '../store/store.ts';
import { refuseErased } from './create-schedule.ts';
import type { ReadRequest } from './ports.ts';
import { readTiming, scheduleChange, scheduleJson } from './schedule-row.ts';
import { requestColumns, type ScheduleOwner, timeColumns } from './schedule-values.ts';
import { nextTick } from './tick-times.ts';

export interface UpdateDeps {
  readonly store: Store;
  readonly readRequest: ReadRequest;
  readonly now: () => number;
  readonly wake: () => void;
}

/** Resolves to the schedule as JSON text. */
export async function updateScheduleById(
  deps: UpdateDeps,
  owner: ScheduleOwner,
  scheduleId: string,
  input: ScheduleChange,
  audit: Audit,
): Promise<string> {
  const { integrationId } = owner;
  const now = deps.now();
  const request = input.request === undefined ? {} : requestColumns(deps.readRequest, owner, input.request, now);
  const changed = await deps.store.transact('account', async (tx) => {
    await tx.all(keepIntegration, { integrationId });
    await tx.all(lockSchedule, { scheduleId });
    const row = await first(tx.all(scheduleById, { integrationId, scheduleId }));
    if (row === undefined) throw new Refusal('schedule_not_found');
    const next = changedRow({ ...row, ...request }, input, now);
    await refuseErased(tx, integrationId, next.consumer_id);
    await tx.run(updateSchedule, next);
    await audit(tx, scheduleChange(row, next));
    return next;
  });
  deps.wake();
  return scheduleJson(changed);
}

function changedRow(row: ScheduleRow, input: ScheduleChange, now: number): ScheduleRow {
  const times = timeColumns(input, row, now);
  const isActive = input.active ?? row.active === 1;
  const isSwitched = isActive !== (row.active === 1);
  const changed: ScheduleRow = {
    ...row,
    ...times,
    name_json: input.name === undefined ? row.name_json : JSON.stringify(input.name),
    catch_up: input.catchUp ?? row.catch_up,
    active: Number(isActive),
    updated_at: Math.max(now, row.updated_at),
  };
  if (!isSwitched && (times === null || !isActive)) return changed;
  const next = isActive ? nextTick(readTiming(changed), now) : null;
  if (isActive && next === null) {
    throw new Refusal('invalid_request', 'The schedule has no tick in the future; set `at` to a later time.');
  }
  return {
    ...changed,
    last_tick_at: Math.max(now, row.last_tick_at),
    next_tick_at: next,
    due_at: next,
    tries: 0,
    retry_code: null,
    ...(isSwitched ? { paused_reason: null, failures: 0, uncounted_runs_json: '[]' } : {}),
  };
}
