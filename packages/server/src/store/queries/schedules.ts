import { type Kysely, sql } from 'kysely';
import type { IntegrationId, ScheduleId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { insertInto, type RowOf, statement } from '../statement.ts';
import { getPage, measureSizes, type Page } from './page.ts';
import { raw } from './raw.ts';
import { soughtId } from './sought-id.ts';

type Db = Kysely<Schema>;

export const insertSchedule = insertInto('schedules', [
  'schedule_id',
  'integration_id',
  'name_json',
  'cron',
  'every_seconds',
  'at',
  'timezone',
  'request_json',
  'consumer_id',
  'catch_up',
  'active',
  'paused_reason',
  'last_tick_at',
  'next_tick_at',
  'due_at',
  'tries',
  'retry_code',
  'failures',
  'uncounted_runs_json',
  { claimed_by: null },
  'created_at',
  'updated_at',
]);

interface ScheduleOfIntegration {
  readonly integrationId: IntegrationId;
  readonly scheduleId: string;
}

export const scheduleById = statement('schedule by id', (db, p: ScheduleOfIntegration) =>
  db
    .selectFrom('schedules')
    .selectAll()
    .where('schedule_id', '=', soughtId<ScheduleId>(p.scheduleId))
    .where('integration_id', '=', p.integrationId),
);

export type ScheduleRow = RowOf<typeof scheduleById>;

/** A PATCH and the record of a tick run one after the other. */
export const lockSchedule = statement(
  'lock schedule',
  (db, p: { scheduleId: string }) =>
    db
      .selectFrom('schedules')
      .select('schedule_id')
      .where('schedule_id', '=', soughtId<ScheduleId>(p.scheduleId))
      .forUpdate(),
  { locks: true },
);

export const countSchedules = statement('count schedules', (db, p: { integrationId: IntegrationId }) =>
  db.selectFrom('schedules').select(sql<number>`count(*)`.as('count')).where('integration_id', '=', p.integrationId),
);

/** A node that works on the schedule has lost it then. */
export const updateSchedule = statement(
  'update schedule',
  (db, p: Omit<ScheduleRow, 'integration_id' | 'created_at' | 'claimed_by'>) =>
    db
      .updateTable('schedules')
      .set({
        name_json: p.name_json,
        cron: p.cron,
        every_seconds: p.every_seconds,
        at: p.at,
        timezone: p.timezone,
        request_json: p.request_json,
        consumer_id: p.consumer_id,
        catch_up: p.catch_up,
        active: p.active,
        paused_reason: p.paused_reason,
        last_tick_at: p.last_tick_at,
        next_tick_at: p.next_tick_at,
        due_at: p.due_at,
        tries: p.tries,
        retry_code: p.retry_code,
        failures: p.failures,
        uncounted_runs_json: p.uncounted_runs_json,
        claimed_by: null,
        updated_at: p.updated_at,
      })
      .where('schedule_id', '=', p.schedule_id),
);

export const deleteSchedule = statement('delete schedule', (db, p: ScheduleOfIntegration) =>
  db
    .deleteFrom('schedules')
    .where('schedule_id', '=', soughtId<ScheduleId>(p.scheduleId))
    .where('integration_id', '=', p.integrationId),
);

export const deleteSchedulesOfIntegration = statement(
  'delete schedules of integration',
  (db, p: { integrationId: IntegrationId }) => db.deleteFrom('schedules').where('integration_id', '=', p.integrationId),
);

interface ScheduleFilter extends Page {
  readonly integrationId: IntegrationId;
}

export const listSchedules = (filter: ScheduleFilter) => (db: Db) =>
  getPage(
    db.selectFrom('schedules').selectAll('schedules').where('integration_id', '=', filter.integrationId),
    filter,
    'created_at',
    'schedule_id',
  );

export const scheduleSizes = (filter: ScheduleFilter) => (db: Db) =>
  measureSizes(listSchedules(filter)(db), 'created_at', 'schedule_id', sql<number>`octet_length(request_json)`);

export const listTicks = (filter: Page & { readonly scheduleId: ScheduleId }) => (db: Db) =>
  getPage(
    db.selectFrom('schedule_ticks').selectAll().where('schedule_id', '=', filter.scheduleId),
    filter,
    'tick_at',
    'schedule_id',
  );

export const anySchedule = statement('any schedule', (db, _: Record<string, never>) =>
  db.selectFrom('schedules').select('schedule_id').limit(1),
);

interface PersonOfSchedule {
  readonly integrationId: IntegrationId;
  readonly consumerId: string;
}

/** The schedules whose request names the person. */
export const deleteSchedulesOfPerson = statement(
  'delete schedules of person',
  (db, p: PersonOfSchedule) =>
    db.deleteFrom('schedules').where('integration_id', '=', p.integrationId).where('consumer_id', '=', p.consumerId),
  { overwrites: true },
);

/** Some ticks of these schedules. Call it before the schedules are deleted. */
export const deleteTicksOfPerson = statement(
  'delete ticks of person',
  (db, p: PersonOfSchedule & { limit: number }) =>
    raw<never>(
      db,
      sql<never>`delete from schedule_ticks where (schedule_id, tick_at) in (
        select t.schedule_id, t.tick_at from schedules s join schedule_ticks t on t.schedule_id = s.schedule_id
        where s.integration_id = ${p.integrationId} and s.consumer_id = ${p.consumerId} limit ${p.limit})`,
    ),
  { overwrites: true },
);
