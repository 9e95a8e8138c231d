import { type Kysely, sql } from 'kysely';
import type { OwnerId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { insertInto, type RowOf, statement } from '../statement.ts';
import type { StoredPath } from '../stored-path.ts';
import type { ErasedPerson, Person } from './erasures.ts';
import type { FileRange } from './files.ts';
import { getPage, measureSizes, type Page } from './page.ts';
import { raw } from './raw.ts';

type Db = Kysely<Schema>;

export const insertAuditEvent = insertInto('audit_events', [
  'event_id',
  'owner_id',
  'at',
  'actor_kind',
  'actor_id',
  'actor_name_json',
  'operation',
  'target_kind',
  'target_id',
  'changes_json',
  'request_id',
  'address',
  'integration_id',
  'consumer_id',
  'path',
]);

export const oldAuditEvent = statement('old audit event', (db, p: { before: number }) =>
  db.selectFrom('audit_events').selectAll().where('at', '<', p.before).limit(1),
);
export type AuditRow = RowOf<typeof oldAuditEvent>;

export interface AuditFilter {
  readonly actor?: string;
  readonly operation?: string;
  readonly target?: string;
  readonly from?: string;
  readonly to?: string;
}

export const listAuditEvents =
  (ownerId: OwnerId, { actor, operation, target, from, to }: AuditFilter, page: Page) =>
  (db: Db) => {
    const [kind = '', id = ''] = target === undefined ? [] : splitTarget(target);
    return getPage(
      db
        .selectFrom('audit_events')
        .selectAll()
        .where('owner_id', '=', ownerId)
        .$if(actor !== undefined, (events) => events.where('actor_id', '=', String(actor)))
        .$if(operation !== undefined, (events) => events.where('operation', '=', String(operation)))
        .$if(target !== undefined, (events) => events.where('target_kind', '=', kind).where('target_id', '=', id))
        .$if(from !== undefined, (events) => events.where('at', '>=', Date.parse(String(from))))
        .$if(to !== undefined, (events) => events.where('at', '<', Date.parse(String(to)))),
      page,
      'at',
      'event_id',
    );
  };

/** The positions of the events and the bytes of their changes; the rest of an event is small. */
export const auditEventSizes = (ownerId: OwnerId, filter: AuditFilter, page: Page) => (db: Db) =>
  measureSizes(listAuditEvents(ownerId, filter, page)(db), 'at', 'event_id', sql<number>`octet_length(changes_json)`);

/** An id can contain colons. */
function splitTarget(target: string): [kind: string, id: string] {
  const colon = target.indexOf(':');
  return [target.slice(0, Math.max(colon, 0)), target.slice(colon + 1)];
}

export const deleteOldAuditEvents = statement('delete old audit events', (db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('audit_events')
    .where('event_id', 'in', (eb) =>
      eb.selectFrom('audit_events').select('event_id').where('at', '<', p.before).orderBy('at').limit(p.limit),
    ),
);

/** Finds one deleted owner whose events are still stored. It reads one entry of an index for each owner. */
export const deletedOwnerWithEvents = statement('deleted owner with events', (db, _: Record<string, never>) =>
  raw<{ owner_id: OwnerId }>(
    db,
    sql<{ owner_id: OwnerId }>`
      with recursive listed(owner_id) as (
        select min(owner_id) from audit_events
        union all
        select (select min(owner_id) from audit_events where owner_id > listed.owner_id) from listed
        where listed.owner_id is not null)
      select owner_id from listed
      where owner_id is not null and not exists (select 1 from owners where owners.owner_id = listed.owner_id)
      limit 1`,
  ),
);

export const deleteEventsOfOwner = statement(
  'delete audit events of owner',
  (db, p: { ownerId: OwnerId; limit: number }) =>
    db
      .deleteFrom('audit_events')
      .where('event_id', 'in', (eb) =>
        eb.selectFrom('audit_events').select('event_id').where('owner_id', '=', p.ownerId).limit(p.limit),
      ),
);

/** Replaces a member's id in some events about or by it, and deletes what else they tell about it. */
export const eraseAuditEvents = statement(
  'erase audit events',
  (db, p: Person & ErasedPerson & FileRange & { readonly folder: StoredPath; readonly limit: number }) =>
    db
      .updateTable('audit_events')
      .set({
        consumer_id: p.erasedId,
        actor_id: sql<string | null>`case when actor_kind = 'client_token' then ${p.erasedId} else actor_id end`,
        target_id: sql<string>`case when target_kind in ('member', 'chat', 'file') then ${p.erasedId} else target_id end`,
        changes_json: null,
        address: null,
        path: null,
      })
      // A part for each index: for one condition with `or`, SQLite would read all events. No event is in two parts.
      .where(
        'event_id',
        'in',
        sql<string>`(select event_id from audit_events
            where integration_id = ${p.integrationId} and consumer_id = ${p.consumerId} and consumer_id is not null
          union all select event_id from audit_events
            where integration_id = ${p.integrationId} and path = ${p.folder} and path is not null
              and consumer_id is distinct from ${p.consumerId}
          union all select event_id from audit_events
            where integration_id = ${p.integrationId} and path >= ${p.from} and path < ${p.to} and path is not null
              and consumer_id is distinct from ${p.consumerId}
          limit ${p.limit})`,
      ),
  { overwrites: true },
);
