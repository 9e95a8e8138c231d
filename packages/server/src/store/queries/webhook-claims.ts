import { type Kysely, sql } from 'kysely';
import { CLAIM_MS, CLAIM_STEP_MS, type DeliveryStatus, type DisabledReason } from '../../domain/webhook.ts';
import type { Schema } from '../schema.ts';
import { type RowOf, statement } from '../statement.ts';
import { raw } from './raw.ts';

interface DueEndpointRow {
  /** Empty in the last row, which is about the look itself. */
  endpoint_id: string;
  owner_id: string;
  failing_since: number | null;
  due_since: number | null;
  /** The next look begins after this endpoint; empty if this look saw all. Null for an endpoint. */
  walked_to: string | null;
  /** 1 if charges are to be checked. Null for an endpoint. */
  has_checks: number | null;
}

const isPending = sql<boolean>`status = 'pending'`;

/**
 * The endpoints with due deliveries, their owners, and since when the first of these is due. It looks at `limit` endpoints with
 * pending deliveries, whose ids are after `after`. The walk reads one index entry for each, however many deliveries
 * it has: 10 000 endpoints would take 45 ms.
 */
export const dueEndpoints = statement('due webhook endpoints', (db, p: { now: number; after: string; limit: number }) =>
  raw<DueEndpointRow>(
    db,
    sql<DueEndpointRow>`
      with recursive walk(endpoint_id, position) as (
        select min(endpoint_id), 1 from webhook_deliveries where status = 'pending' and endpoint_id > ${p.after}
        union all
        select (select min(d.endpoint_id) from webhook_deliveries d
          where d.status = 'pending' and d.endpoint_id > walk.endpoint_id), position + 1
        from walk where walk.endpoint_id is not null and position < ${p.limit}
      )
      select e.endpoint_id, i.owner_id, e.failing_since, first.due_since, null as walked_to, null as has_checks
        from (select walk.endpoint_id, (select min(d.next_attempt_at) from webhook_deliveries d
          where d.endpoint_id = walk.endpoint_id and d.status = 'pending') as due_since from walk) first
        join webhook_endpoints e on e.endpoint_id = first.endpoint_id
        join integrations i on i.integration_id = e.integration_id
      where first.due_since <= ${p.now}
      union all
      select '', '', null, null, case when count(endpoint_id) = ${p.limit} then max(endpoint_id) else '' end,
        case when exists (select 1 from webhook_checks) then 1 else 0 end from walk`,
  ),
);

/** Returns no row if another node has locked the endpoint: it claims deliveries of it at this moment. */
export const lockEndpoint = statement(
  'lock webhook endpoint',
  (db, p: { endpointId: string }) =>
    db
      .selectFrom('webhook_endpoints')
      .select('endpoint_id')
      .where('endpoint_id', '=', p.endpointId)
      .forUpdate()
      .skipLocked(),
  { locks: true },
);

/** Waits for claims and changes of these endpoints. */
export const lockEndpoints = (endpointIds: readonly string[]) => (db: Kysely<Schema>) =>
  db
    .selectFrom('webhook_endpoints')
    .select('endpoint_id')
    .where('endpoint_id', 'in', [...endpointIds])
    .orderBy('endpoint_id')
    .forUpdate();

/** When claims can end that have not ended yet, as multiples of `CLAIM_STEP_MS` after the first. */
const claimEnds = (first: number) =>
  sql.join(
    Array.from(
      { length: CLAIM_MS / CLAIM_STEP_MS },
      (_, index) => sql`cast(${first} as bigint) + ${sql.lit(index * CLAIM_STEP_MS)}`,
    ),
  );

/** `firstClaimEnd` is the next time at which a claim can end. */
export const endpointToPost = statement(
  'webhook endpoint to post to',
  (db, p: { endpointId: string; firstClaimEnd: number }) =>
    db
      .selectFrom('webhook_endpoints')
      .select(['endpoint_id', 'url', 'active', 'secret_number', 'rotated_at'])
      // How many posts to it are under way on all nodes. It reads the index at a few times only: 300 000 deliveries that
      // wait for their next attempt cost 185 ms otherwise.
      .select(
        sql<number>`(select count(*) from webhook_deliveries d where d.endpoint_id = webhook_endpoints.endpoint_id
          and d.status = 'pending' and d.next_attempt_at in (${claimEnds(p.firstClaimEnd)})
          and d.claim_id is not null)`.as('posting'),
      )
      .where('endpoint_id', '=', p.endpointId),
);

export type EndpointToPost = RowOf<typeof endpointToPost>;

/** The deliveries that are due for the longest time. The events of some may have been deleted. */
export const dueDeliveries = statement(
  'due webhook deliveries',
  (db, p: { endpointId: string; now: number; limit: number }) =>
    db
      .selectFrom('webhook_deliveries')
      .select(['delivery_id', 'event_id', 'type', 'run_id', 'attempts'])
      .select(
        sql<string | null>`(select body_json from webhook_events e where e.event_id = webhook_deliveries.event_id)`.as(
          'body_json',
        ),
      )
      .where('endpoint_id', '=', p.endpointId)
      .where(isPending)
      .where('next_attempt_at', '<=', p.now)
      .orderBy('next_attempt_at')
      .orderBy('delivery_id')
      .limit(p.limit),
);

export type ClaimedRow = RowOf<typeof dueDeliveries> & { readonly body_json: string };

/**
 * Claims a delivery. A statement that also found it, with a subquery, could keep a plan of PostgreSQL from when the table was
 * empty, which runs the subquery for each pending delivery: with 12 000 of them three nodes posted 15 deliveries per second.
 */
export const claimDelivery = statement(
  'claim webhook delivery',
  (db, p: { deliveryId: string; claimId: string; until: number }) =>
    db
      .updateTable('webhook_deliveries')
      .set({ claim_id: p.claimId, next_attempt_at: p.until })
      .where('delivery_id', '=', p.deliveryId)
      .where(isPending),
);

export const deleteDelivery = statement('delete webhook delivery', (db, p: { deliveryId: string }) =>
  db.deleteFrom('webhook_deliveries').where('delivery_id', '=', p.deliveryId),
);

/** Changes no row if the claim has ended and another node has claimed the delivery, or if it was skipped. */
export const recordAttempt = statement(
  'record webhook attempt',
  (
    db,
    p: {
      deliveryId: string;
      claimId: string;
      status: DeliveryStatus;
      nextAttemptAt: number | null;
      lastStatus: number | null;
      lastError: string | null;
      answerJson: string | null;
      deliveredAt: number | null;
      settledAt: number | null;
    },
  ) =>
    db
      .updateTable('webhook_deliveries')
      .set((eb) => ({
        status: p.status,
        attempts: eb('attempts', '+', 1),
        next_attempt_at: p.nextAttemptAt,
        claim_id: null,
        last_status: p.lastStatus,
        last_error: p.lastError,
        answer_json: p.answerJson,
        delivered_at: p.deliveredAt,
        settled_at: p.settledAt,
      }))
      .where('delivery_id', '=', p.deliveryId)
      .where('claim_id', '=', p.claimId)
      .where(isPending),
);

/** Gives a claim back before its end. */
export const releaseClaim = statement(
  'release webhook claim',
  (db, p: { deliveryId: string; claimId: string; now: number }) =>
    db
      .updateTable('webhook_deliveries')
      .set({ claim_id: null, next_attempt_at: p.now })
      .where('delivery_id', '=', p.deliveryId)
      .where('claim_id', '=', p.claimId)
      .where(isPending),
);

export const noteSuccess = statement('note webhook success', (db, p: { endpointId: string }) =>
  db
    .updateTable('webhook_endpoints')
    .set({ failing_since: null })
    .where('endpoint_id', '=', p.endpointId)
    .where('failing_since', 'is not', null),
);

/** What an endpoint's earlier address answers late does not count. */
export const noteFailure = statement(
  'note webhook failure',
  (db, p: { endpointId: string; url: string; now: number }) =>
    db
      .updateTable('webhook_endpoints')
      .set({ failing_since: p.now })
      .where('endpoint_id', '=', p.endpointId)
      .where('url', '=', p.url)
      .where('failing_since', 'is', null),
);

/** Disables the endpoint if it answered 410, or if its failures began before `failingBefore`. */
export const disableEndpoint = statement(
  'disable webhook endpoint',
  (db, p: { endpointId: string; url: string; reason: DisabledReason; failingBefore: number; now: number }) =>
    db
      .updateTable('webhook_endpoints')
      .set({ active: 0, disabled_reason: p.reason, updated_at: p.now })
      .where('endpoint_id', '=', p.endpointId)
      .where('url', '=', p.url)
      .where('active', '=', 1)
      .where('failing_since', '<=', p.failingBefore),
);
