import { Refusal } from '../domain/refusal.ts';
import { isFinished } from '../domain/run-state.ts';
import { admissionTimes } from '../domain/time.ts';
import type { EventLog } from '../eventlog/event-log.ts';
import type { LargeListQuery, LargePages } from '../store/large-pages.ts';
import type { Page } from '../store/queries/page.ts';
import { listRuns, type RunRow, runById, runSizes } from '../store/queries/runs.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import { first, type Store } from '../store/store.ts';
import { type ChatStatusQuery, chatStatus } from './chat-status.ts';
import { runItem, runJson, usageRecordJson } from './run-json.ts';
import { type SummaryQuery, usageSummary } from './usage-summary.ts';

export interface RunQuery extends LargeListQuery {
  readonly chatId?: string;
  readonly consumerId?: string;
  readonly status?: string;
}

export interface UsageQuery extends ListQuery {
  readonly usageRequestId?: string;
  readonly consumerId?: string;
  readonly from?: string;
  readonly to?: string;
}

export const position = (row: RunRow) => ({ createdAt: row.created_at, id: row.run_id });

function listUsage(integrationId: string, query: UsageQuery, page: Page) {
  const { usageRequestId, consumerId } = query;
  const { fromMs, toMs } = admissionTimes(query);
  return listRuns({ integrationId, usageRequestId, consumerId, fromMs, toMs, ...page, answer: false });
}

export class RunReads {
  readonly #store: Store;
  readonly #eventLog: EventLog;
  readonly #pages: LargePages;

  constructor(store: Store, eventLog: EventLog, pages: LargePages) {
    this.#store = store;
    this.#eventLog = eventLog;
    this.#pages = pages;
  }

  async row(integrationId: string, runId: string): Promise<RunRow> {
    const row = await first(this.#store.reads.all(runById, { integrationId, runId }));
    if (row === undefined) throw new Refusal('run_not_found', 'This integration has no such run.');
    return row;
  }

  /** Includes events that are not stored yet if the run is on this node, and never the end events of an unfinished run. */
  lastEventId(row: RunRow): number {
    if (isFinished(row.status)) return row.last_event_id ?? 0;
    return Math.max(row.last_stored_id ?? 0, this.#eventLog.hot(row.run_id)?.lastIdBeforeEnd ?? 0);
  }

  async get(integrationId: string, runId: string) {
    const row = await this.row(integrationId, runId);
    return runJson(row, this.lastEventId(row));
  }

  chatStatus(integrationId: string, query: ChatStatusQuery) {
    return chatStatus(this.#store.reads, integrationId, query, (run) => this.lastEventId(run));
  }

  list(integrationId: string, query: RunQuery) {
    const { chatId, consumerId, status } = query;
    const filter = { integrationId, chatId, consumerId, status };
    const { reads } = this.#store;
    return this.#pages.read(query, {
      showsAll: true,
      sizes: (page) => reads.query(runSizes({ ...filter, ...page })),
      rows: (page) => reads.query(listRuns({ ...filter, ...page })),
      position,
      show: (row) => runItem(row, this.lastEventId(row)),
    });
  }

  usage(integrationId: string, query: UsageQuery) {
    const records = (page: Page) => listUsage(integrationId, query, page);
    return readPage(this.#store.reads, query, records, position, usageRecordJson);
  }

  usageRows(integrationId: string, query: UsageQuery, page: Page): Promise<RunRow[]> {
    return this.#store.reads.query(listUsage(integrationId, query, page));
  }

  usageSummary(integrationId: string, query: SummaryQuery) {
    return usageSummary(this.#store.reads, integrationId, query);
  }
}
