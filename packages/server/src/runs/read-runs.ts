import { decodeCursor, type ListPosition, page } from '../domain/list-cursor.ts';
import { Refusal } from '../domain/refusal.ts';
import { isFinished } from '../domain/run-state.ts';
import { admissionTimes } from '../domain/time.ts';
import type { EventLog } from '../eventlog/event-log.ts';
import { listRuns, newestRunOfChat, type RunRow, runById, runByUsageRequest } from '../store/queries/runs.ts';
import { first, type Store } from '../store/store.ts';
import { runJson, statusRunJson, usageRecordJson } from './run-json.ts';
import { type SummaryQuery, usageSummary } from './usage-summary.ts';

export interface RunQuery {
  readonly chatId?: string;
  readonly consumerId?: string;
  readonly status?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

export interface UsageQuery {
  readonly usageRequestId?: string;
  readonly consumerId?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

export const position = (row: RunRow) => ({ createdAt: row.created_at, id: row.run_id });

export class RunReads {
  readonly #store: Store;
  readonly #eventLog: EventLog;

  constructor(store: Store, eventLog: EventLog) {
    this.#store = store;
    this.#eventLog = eventLog;
  }

  async row(integrationId: string, runId: string): Promise<RunRow> {
    const row = await first(this.#store.reads.all(runById, { integrationId, runId }));
    if (row === undefined) throw new Refusal('run_not_found', 'There is no such run in this integration.');
    return row;
  }

  byUsageRequest(integrationId: string, usageRequestId: string): Promise<RunRow | undefined> {
    return first(this.#store.reads.all(runByUsageRequest, { integrationId, usageRequestId }));
  }

  newestOfChat(chatKey: string): Promise<RunRow | undefined> {
    return first(this.#store.reads.all(newestRunOfChat, { chatKey }));
  }

  async lastEventId(row: RunRow): Promise<number> {
    if (isFinished(row.status)) return row.last_event_id ?? 0;
    return this.#eventLog.lastId(row.run_id);
  }

  async get(integrationId: string, runId: string) {
    return this.#json(await this.row(integrationId, runId));
  }

  async statusRun(row: RunRow) {
    return statusRunJson(row, await this.lastEventId(row));
  }

  async #json(row: RunRow) {
    return runJson(row, await this.lastEventId(row));
  }

  async list(integrationId: string, query: RunQuery) {
    const limit = query.limit ?? 50;
    const before = decodeCursor(query.cursor);
    const { chatId, consumerId, status } = query;
    const filter = { integrationId, chatId, consumerId, status, before, limit: limit + 1 };
    const shown = page(await this.#store.reads.query(listRuns(filter)), limit, position, (row) => row);
    return { items: await Promise.all(shown.items.map((row) => this.#json(row))), nextCursor: shown.nextCursor };
  }

  async usage(integrationId: string, query: UsageQuery) {
    const limit = query.limit ?? 50;
    const before = decodeCursor(query.cursor);
    return page(await this.usageRows(integrationId, query, before, limit + 1), limit, position, usageRecordJson);
  }

  usageRows(integrationId: string, query: UsageQuery, before: ListPosition | null, limit: number): Promise<RunRow[]> {
    const { usageRequestId, consumerId } = query;
    const { fromMs, toMs } = admissionTimes(query);
    const filter = { integrationId, usageRequestId, consumerId, fromMs, toMs, before, limit, answer: false };
    return this.#store.reads.query(listRuns(filter));
  }

  usageSummary(integrationId: string, query: SummaryQuery) {
    return usageSummary(this.#store.reads, integrationId, query);
  }
}
