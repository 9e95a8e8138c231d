import { sql } from 'kysely';
import type { IntegrationId, RunId, ScheduleId } from '../../domain/ids.ts';
import { NODE_ALIVE } from '../schema.ts';
import { type RowOf, statement } from '../statement.ts';
import { raw } from './raw.ts';

/** True if no living node works on the schedule, or only this one. */
const isFree = (nodeId: string) => sql<boolean>`(claimed_by is null or claimed_by = ${nodeId}
  or claimed_by not in (select node_id from nodes where dead = ${sql.lit(NODE_ALIVE)}))`;

/** When the next schedule is due that this node may claim. */
export const nextDue = statement('next due schedule', (db, p: { nodeId: string }) =>
  db
    .selectFrom('schedules')
    .select('due_at')
    .where('due_at', 'is not', null)
    .where(isFree(p.nodeId))
    .orderBy('due_at')
    .limit(1),
);

/** Due schedules. Owners take turns: 1000 due schedules of one owner do not delay those of another. */
export const dueSchedules = statement('due schedules', (db, p: { now: number; nodeId: string; limit: number }) =>
  raw<{ schedule_id: ScheduleId }>(
    db,
    sql<{ schedule_id: ScheduleId }>`
        select schedule_id from (
          select s.schedule_id, s.due_at,
            row_number() over (partition by i.owner_id order by s.due_at, s.schedule_id) as turn
          from schedules s join integrations i on i.integration_id = s.integration_id and i.deleted_at is null
          where s.due_at <= ${p.now} and ${isFree(p.nodeId)}
        ) as due order by turn, due_at, schedule_id limit ${p.limit}`,
  ),
);

/** Changes no row if another node was faster. */
export const claimSchedule = statement(
  'claim schedule',
  (db, p: { scheduleId: ScheduleId; nodeId: string; now: number }) =>
    db
      .updateTable('schedules')
      .set({ claimed_by: p.nodeId })
      .where('schedule_id', '=', p.scheduleId)
      .where('due_at', '<=', p.now)
      .where(isFree(p.nodeId)),
);

export const claimedSchedule = statement('claimed schedule', (db, p: { scheduleId: ScheduleId }) =>
  db
    .selectFrom('schedules')
    .innerJoin('integrations', 'integrations.integration_id', 'schedules.integration_id')
    .selectAll('schedules')
    .select('integrations.owner_id')
    .where('schedule_id', '=', p.scheduleId),
);

export type ClaimedSchedule = RowOf<typeof claimedSchedule>;

export type ScheduleProgress = Pick<
  ClaimedSchedule,
  | 'schedule_id'
  | 'active'
  | 'paused_reason'
  | 'last_tick_at'
  | 'next_tick_at'
  | 'due_at'
  | 'tries'
  | 'retry_code'
  | 'failures'
  | 'uncounted_runs_json'
  | 'claimed_by'
>;

/** Changes no row if this node lost the schedule: it was changed, or another node has claimed it. */
export const moveSchedule = statement('move schedule', (db, p: ScheduleProgress & { nodeId: string }) =>
  db
    .updateTable('schedules')
    .set({
      active: p.active,
      paused_reason: p.paused_reason,
      last_tick_at: p.last_tick_at,
      next_tick_at: p.next_tick_at,
      due_at: p.due_at,
      tries: p.tries,
      retry_code: p.retry_code,
      failures: p.failures,
      uncounted_runs_json: p.uncounted_runs_json,
      claimed_by: p.claimed_by,
    })
    .where('schedule_id', '=', p.schedule_id)
    .where('claimed_by', '=', p.nodeId),
);

export interface TickRecord {
  readonly schedule_id: ScheduleId;
  readonly tick_at: number;
  readonly run_id: RunId | null;
  readonly code: string | null;
  readonly error_json: string | null;
  readonly recorded_at: number;
}

/**
 * Records a tick, unless the schedule was deleted. A run counts more than a refusal: if two nodes worked on a tick, because
 * one was taken for dead, its only run is recorded, whichever node is first.
 */
export const recordTick = statement('record tick', (db, p: TickRecord) =>
  raw<never>(
    db,
    sql<never>`
      insert into schedule_ticks (schedule_id, tick_at, run_id, code, error_json, recorded_at)
      select schedule_id, cast(${p.tick_at} as bigint), cast(${p.run_id} as text), cast(${p.code} as text),
        cast(${p.error_json} as text), cast(${p.recorded_at} as bigint)
      from schedules where schedule_id = ${p.schedule_id}
      on conflict (schedule_id, tick_at) do update
      set run_id = excluded.run_id, code = null, error_json = null, recorded_at = excluded.recorded_at
      where excluded.run_id is not null`,
  ),
);

/** The states of some runs. */
export const runStates = (runIds: readonly RunId[]) => (db: Parameters<(typeof nextDue)['build']>[0]) =>
  db.selectFrom('runs').select(['run_id', 'status']).where('run_id', 'in', runIds);

/** The run of a tick, whatever the schedule was changed to since then. */
export const runOfTick = statement(
  'run of tick',
  (db, p: { integrationId: IntegrationId; usageRequestId: string; fingerprint: string }) =>
    db
      .selectFrom('runs')
      .select('run_id')
      .where('integration_id', '=', p.integrationId)
      .where('usage_request_id', '=', p.usageRequestId)
      .where('fingerprint', '=', p.fingerprint),
);

/** Ticks that are older than the log. */
export const deleteOldTicks = statement('delete old ticks', (db, p: { before: number; limit: number }) =>
  raw<never>(
    db,
    sql<never>`delete from schedule_ticks where (schedule_id, tick_at) in (
      select schedule_id, tick_at from schedule_ticks where recorded_at < ${p.before} order by recorded_at limit ${p.limit})`,
  ),
);

/** Returns a row if there is a tick to delete. */
export const oldTick = statement('old tick', (db, p: { before: number }) =>
  db.selectFrom('schedule_ticks').select('schedule_id').where('recorded_at', '<', p.before).limit(1),
);
