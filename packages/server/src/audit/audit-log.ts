import type { TakeTurn } from '@runwire/lib/page-turns.ts';
import type { OwnerId } from '../domain/ids.ts';
import type { ListPosition } from '../domain/list-cursor.ts';
import { jsonWith } from '../domain/list-page.ts';
import { iso } from '../domain/time.ts';
import type { LargeListQuery, LargePages } from '../store/large-pages.ts';
import { type AuditFilter, type AuditRow, auditEventSizes, listAuditEvents } from '../store/queries/audit.ts';
import type { Page } from '../store/queries/page.ts';
import { readCsv } from '../store/read-csv.ts';
import type { Reads } from '../store/store.ts';

/** An event as JSON text. The changes are not parsed: they can be long. */
function auditJson(row: AuditRow): string {
  const event = {
    eventId: row.event_id,
    at: iso(row.at),
    actor: { kind: row.actor_kind, id: row.actor_id, name: actorName(row) },
    operation: row.operation,
    target: target(row),
    apiIntegrationId: row.integration_id,
    requestId: row.request_id,
    address: row.address,
  };
  return jsonWith(event, 'changes', row.changes_json ?? 'null');
}

const actorName = ({ actor_name_json: json }: AuditRow) => (json === null ? null : (JSON.parse(json) as string));
const target = (row: AuditRow) => `${row.target_kind}:${row.target_id}`;
const position = (row: AuditRow): ListPosition => ({ createdAt: row.at, id: row.event_id });

const COLUMNS = [
  'at',
  'actorKind',
  'actorId',
  'actorName',
  'operation',
  'target',
  'apiIntegrationId',
  'changes',
  'requestId',
  'address',
];
/** Reads who changed what for an owner. */
export class AuditLog {
  readonly #reads: Reads;
  readonly #pages: LargePages;

  constructor(reads: Reads, pages: LargePages) {
    this.#reads = reads;
    this.#pages = pages;
  }

  list(query: LargeListQuery & AuditFilter) {
    const { ownerId } = query;
    return this.#pages.read(query, {
      showsAll: true,
      sizes: (page) => this.#reads.query(auditEventSizes(ownerId, query, page)),
      rows: (page) => this.#reads.query(listAuditEvents(ownerId, query, page)),
      position,
      show: auditJson,
    });
  }

  /** Yields all events that the filter selects as CSV, newest first. */
  csv(takeTurn: TakeTurn, ownerId: OwnerId, filter: AuditFilter): AsyncGenerator<string> {
    const rows = (page: Page) => this.#reads.query(listAuditEvents(ownerId, filter, page));
    return readCsv(takeTurn, { header: COLUMNS, rows, fields, position });
  }
}

const fields = (row: AuditRow) => [
  iso(row.at),
  row.actor_kind,
  row.actor_id,
  actorName(row),
  row.operation,
  target(row),
  row.integration_id,
  row.changes_json,
  row.request_id,
  row.address,
];
