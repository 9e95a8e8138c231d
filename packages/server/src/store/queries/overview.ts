import { type Kysely, sql } from 'kysely';
import type { IntegrationId, OwnerId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { statement } from '../statement.ts';
import { type PeriodDays, reservedSum, usedSum } from './allowance.ts';
import { isOpen } from './question-list.ts';
import { raw } from './raw.ts';

const anyRow = (table: string, condition = sql``) =>
  sql`exists (select 1 from ${sql.table(table)} r where r.integration_id = integrations.integration_id ${condition})`;

/** An owner's integrations. `has_runs` is 1 if one was admitted since the hour, or is not part of the rollups. */
export const integrationsOfOwner = statement(
  'integrations of owner',
  (db, p: { ownerId: OwnerId; sinceHour: number }) =>
    db
      .selectFrom('integrations')
      .select([
        'integration_id',
        'agency',
        sql<number>`case when ${anyRow('usage_hours', sql`and r.hour >= ${p.sinceHour}`)} or ${anyRow('active_runs')}
          or ${anyRow('uncounted_runs')} then 1 else 0 end`.as('has_runs'),
      ])
      .where('owner_id', '=', p.ownerId)
      .where('deleted_at', 'is', null)
      .orderBy('created_at', 'desc'),
);

export interface NewestRuns {
  readonly integrationId: IntegrationId;
  readonly fromMs: number;
  readonly limit: number;
}

/** The newest failed runs. */
export const newestFailures = statement('newest failures', (db, p: NewestRuns) =>
  db
    .selectFrom('unsuccessful_runs as failed')
    .innerJoin('runs', 'runs.run_id', 'failed.run_id')
    .select(['failed.run_id', 'failed.created_at', 'runs.error_code', 'runs.error_message'])
    .where('failed.integration_id', '=', p.integrationId)
    .where('failed.status', '=', sql<'failed'>`'failed'`)
    .where('failed.created_at', '>=', p.fromMs)
    .orderBy('failed.created_at', 'desc')
    .orderBy('failed.run_id', 'desc')
    .limit(p.limit),
);

export const countActiveRuns = statement('count active runs', (db, p: { integrationId: IntegrationId }) =>
  db.selectFrom('active_runs').select(sql<number>`count(*)`.as('runs')).where('integration_id', '=', p.integrationId),
);

/** The open questions in an owner's chats, at most `limit`. */
export const openQuestions =
  (ownerId: OwnerId, integrationIds: readonly IntegrationId[] | null, limit: number) => (db: Kysely<Schema>) =>
    db
      .selectFrom('asked_questions as q')
      .innerJoin('chats as c', 'c.chat_key', 'q.chat_key')
      .innerJoin('integrations as i', 'i.integration_id', 'c.integration_id')
      .select('q.question_id')
      .where('q.owner_id', '=', ownerId)
      // As in the index.
      .where('q.settled_at', 'is', null)
      .where(isOpen)
      .where('c.deleted_at', 'is', null)
      .where('i.deleted_at', 'is', null)
      .$if(integrationIds !== null, (query) => query.where('c.integration_id', 'in', integrationIds ?? []))
      .limit(limit);

interface MemberRow {
  consumer_id: string;
}

/** The members who have used up their allowance, among the members with the newest runs. */
export const exhaustedMembers = (p: NewestRuns & PeriodDays) => (db: Kysely<Schema>) =>
  raw<MemberRow>(
    db,
    sql<MemberRow>`with newest as materialized (select consumer_id, run_id from runs
        where integration_id = ${p.integrationId} and created_at >= ${p.fromMs} order by created_at desc limit ${p.limit})
      select m.consumer_id from (select consumer_id, max(run_id) as run_id from newest where consumer_id is not null
          group by consumer_id) used_by
        cross join members m cross join integrations i
      where m.integration_id = ${p.integrationId} and m.consumer_id = used_by.consumer_id
        and i.integration_id = m.integration_id and i.allowance_unit is not null
        and ${usedSum(sql`m.consumer_id`, p)} + ${reservedSum(sql`m.consumer_id`, p)} >= coalesce(m.own_limit, i.allowance_limit)
      order by used_by.run_id desc`,
  );

export const expiringKeys = statement(
  'expiring keys',
  (db, p: { ownerId: OwnerId; now: number; until: number; limit: number }) =>
    db
      .selectFrom('api_keys')
      .select(['key_id', 'name_json', 'expires_at'])
      .where('owner_id', '=', p.ownerId)
      .where('revoked_at', 'is', null)
      .where('expires_at', '>', p.now)
      .where('expires_at', '<', p.until)
      .orderBy('expires_at')
      .limit(p.limit),
);

/** The endpoints that were disabled because posts failed. */
export const disabledEndpoints =
  (ownerId: OwnerId, integrationIds: readonly IntegrationId[] | null, limit: number) => (db: Kysely<Schema>) =>
    db
      .selectFrom('integrations as i')
      .innerJoin('webhook_endpoints as e', 'e.integration_id', 'i.integration_id')
      .select(['e.integration_id', 'e.endpoint_id', 'e.disabled_reason'])
      .where('i.owner_id', '=', ownerId)
      .where('i.deleted_at', 'is', null)
      .where('e.disabled_reason', 'is not', null)
      .$if(integrationIds !== null, (query) => query.where('i.integration_id', 'in', integrationIds ?? []))
      .orderBy('e.created_at', 'desc')
      .limit(limit);
