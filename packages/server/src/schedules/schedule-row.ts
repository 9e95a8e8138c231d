import type { AuditedChange } from '../audit/audit.ts';
import { jsonWith } from '../domain/list-page.ts';
import { iso } from '../domain/time.ts';
import type { ScheduleRow } from '../store/queries/schedules.ts';
import { nextTick, type Timing } from './tick-times.ts';

type TimingColumns = Pick<ScheduleRow, 'cron' | 'every_seconds' | 'at' | 'timezone' | 'created_at'>;

export function readTiming({ cron, every_seconds, at, timezone, created_at }: TimingColumns): Timing {
  if (cron !== null) return { kind: 'cron', cron, timezone };
  if (every_seconds !== null) return { kind: 'every', everySeconds: every_seconds, fromMs: created_at };
  if (at !== null) return { kind: 'at', atMs: at };
  throw new Error('The schedule has no times.');
}

/** What a caller sets of a schedule, except the request. */
const settings = (row: ScheduleRow) => ({
  name: JSON.parse(row.name_json) as string,
  cron: row.cron,
  everySeconds: row.every_seconds,
  at: iso(row.at),
  timezone: row.timezone,
  catchUp: row.catch_up,
  active: row.active === 1,
});

/** What the audit log stores of a change. Of a request it tells only that it changed, because a request has a message. */
export function scheduleChange(before: ScheduleRow | null, after: ScheduleRow): AuditedChange {
  const isOtherRequest = before !== null && before.request_json !== after.request_json;
  return {
    target: ['schedule', after.schedule_id],
    integrationId: after.integration_id,
    consumerId: after.consumer_id,
    before: before === null ? {} : settings(before),
    after: { ...settings(after), ...(isOtherRequest ? { request: 'changed' } : {}) },
  };
}

/** A schedule as JSON text. The request is not parsed: it can be long. */
export function scheduleJson(row: ScheduleRow): string {
  const { next_tick_at: next, due_at: due, last_tick_at: last } = row;
  // After a restore the next tick is not stored until a node has looked at the schedule.
  const nextMs = next === null && due !== null ? nextTick(readTiming(row), last) : next;
  const schedule = {
    scheduleId: row.schedule_id,
    ...settings(row),
    pausedReason: row.paused_reason,
    nextTickAt: iso(nextMs),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
  return jsonWith(schedule, 'request', row.request_json);
}
