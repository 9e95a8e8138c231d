import type { Principal } from '../domain/account/principal.ts';
import { encodeCsvRow } from '../domain/csv.ts';
import type { ListPosition } from '../domain/list-cursor.ts';
import { iso } from '../domain/time.ts';
import { type AuditFilter, type AuditRow, listAuditEvents } from '../store/queries/audit.ts';
import type { Page } from '../store/queries/page.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import type { Reads } from '../store/store.ts';

function auditJson(row: AuditRow) {
  return {
    eventId: row.event_id,
    at: iso(row.at),
    actor: { kind: row.actor_kind, id: row.actor_id, name: parse<string>(row.actor_name_json) },
    operation: row.operation,
    target: `${row.target_kind}:${row.target_id}`,
    apiIntegrationId: row.integration_id,
    changes: parse(row.changes_json),
    requestId: row.request_id,
    address: row.address,
  };
}

const parse = <T = unknown>(json: string | null): T | null => (json === null ? null : (JSON.parse(json) as T));

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
const ROWS_PER_PAGE = 500;

/** Reads who changed what for an owner. */
export class AuditLog {
  readonly #reads: Reads;

  constructor(reads: Reads) {
    this.#reads = reads;
  }

  list({ ownerId }: Principal, query: ListQuery & AuditFilter) {
    const events = (page: Page) => listAuditEvents(ownerId, query, page);
    const position = (row: AuditRow) => ({ createdAt: row.at, id: row.event_id });
    return readPage(this.#reads, query, events, position, auditJson);
  }

  /** Yields all events that the filter selects, newest first, page by page. */
  async *csv({ ownerId }: Principal, filter: AuditFilter): AsyncGenerator<string> {
    let text = encodeCsvRow(COLUMNS);
    for (let before: ListPosition | null = null; ; ) {
      const page = { before, limit: ROWS_PER_PAGE };
      const rows: readonly AuditRow[] = await this.#reads.query(listAuditEvents(ownerId, filter, page));
      yield text + rows.map(csvLine).join('');
      text = '';
      const last = rows.at(-1);
      if (last === undefined || rows.length < ROWS_PER_PAGE) return;
      before = { createdAt: last.at, id: last.event_id };
    }
  }
}

function csvLine(row: AuditRow): string {
  const { at, actor, operation, target, apiIntegrationId, requestId, address } = auditJson(row);
  const cells = [
    at,
    actor.kind,
    actor.id,
    actor.name,
    operation,
    target,
    apiIntegrationId,
    row.changes_json,
    requestId,
    address,
  ];
  return encodeCsvRow(cells);
}
