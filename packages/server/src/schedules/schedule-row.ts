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

/** A schedule as JSON text. The request is not parsed: it can be long. */
export function scheduleJson(row: ScheduleRow): string {
  const { next_tick_at: next, due_at: due, last_tick_at: last } = row;
  // After a restore the next tick is not stored until a node has looked at the schedule.
  const nextMs = next === null && due !== null ? nextTick(readTiming(row), last) : next;
  const schedule = {
    scheduleId: row.schedule_id,
    name: JSON.parse(row.name_json) as string,
    cron: row.cron,
    everySeconds: row.every_seconds,
    at: iso(row.at),
    timezone: row.timezone,
    catchUp: row.catch_up,
    active: row.active === 1,
    pausedReason: row.paused_reason,
    nextTickAt: iso(nextMs),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
  return jsonWith(schedule, 'request', row.request_json);
}
