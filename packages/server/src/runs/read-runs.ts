import type { TakeTurn } from '@runwire/lib/page-turns.ts';
import type { ErasedIds } from '../domain/account/erased-ids.ts';
import { isVisible, type Scope } from '../domain/account/scope.ts';
import type { StoredAttachment } from '../domain/attachment/attachment.ts';
import type { IntegrationId, RunId } from '../domain/ids.ts';
import { decodeCursor, type ListPosition } from '../domain/list-cursor.ts';
import { cursorBy, type ListPage, pageOfRows } from '../domain/list-page.ts';
import { Refusal } from '../domain/refusal.ts';
import { parseExtras } from '../domain/run/run-extras.ts';
import { isFinished, type RunStatus } from '../domain/run/run-state.ts';
import { soughtWords } from '../domain/search/words.ts';
import { admissionTimes } from '../domain/time.ts';
import type { EventLog } from '../eventlog/event-log.ts';
import { Search } from '../search/search.ts';
import { type LargeListQuery, type LargePages, toPage } from '../store/large-pages.ts';
import { attachmentsOfRuns } from '../store/queries/attachments.ts';
import { userMessageOfRun } from '../store/queries/chats.ts';
import { jsonRows } from '../store/queries/file-batches.ts';
import type { Page } from '../store/queries/page.ts';
import {
  activeExtras,
  deleteResponse,
  lastReadRun,
  listRuns,
  type RunRow,
  readsInOrder,
  runById,
  runSizes,
} from '../store/queries/runs.ts';
import { DEFAULT_LIMIT } from '../store/read-page.ts';
import { first, type Store } from '../store/store.ts';
import { type ChatStatusQuery, chatStatus } from './chat-status.ts';
import { ClosedDays } from './closed-days.ts';
import { Latency, type LatencyQuery } from './latency.ts';
import { type OverviewQuery, overview } from './overview.ts';
import { readDetails } from './run-details.ts';
import { runItem, runJson, type StatusRow } from './run-json.ts';
import { readUsage, type UsageQuery, type UsageRow, usageJson, usagePosition } from './usage-rows.ts';
import { type SummaryQuery, usageSummary } from './usage-summary.ts';

export interface RunQuery extends LargeListQuery {
  readonly chatId?: string;
  readonly consumerId?: string;
  readonly status?: RunStatus;
  readonly agent?: string;
  /** The run that the runs rerun. */
  readonly rerunOf?: string;
  readonly from?: string;
  readonly to?: string;
  /** Words that all must occur in the run's texts. */
  readonly q?: string;
  /** False if the list has only the previews of the texts. */
  readonly texts?: boolean;
}

export interface UserMessage {
  readonly text: string;
  readonly attachments: readonly StoredAttachment[];
}

export class RunReads {
  readonly #store: Store;
  readonly #ids: ErasedIds;
  readonly #eventLog: EventLog;
  readonly #pages: LargePages;
  readonly #search: Search;
  readonly #closedDays = new ClosedDays();
  readonly #latency = new Latency(this.#closedDays);

  constructor(store: Store, ids: ErasedIds, eventLog: EventLog, pages: LargePages) {
    this.#search = new Search(store);
    this.#store = store;
    this.#ids = ids;
    this.#eventLog = eventLog;
    this.#pages = pages;
  }

  async row({ integrationId, member }: Scope, runId: string): Promise<RunRow> {
    const row = await first(this.#store.reads.all(runById, { integrationId, runId }));
    if (row === undefined || !isVisible(member, row.consumer_id, row.chat_id))
      throw new Refusal('run_not_found', 'This integration has no such run.');
    return row;
  }

  /** The message that the run answers, with its attachments. Null if the chat was deleted. */
  async userMessage({ chat_key: chatKey, run_id: runId }: RunRow): Promise<UserMessage | null> {
    const { reads } = this.#store;
    const row = await first(reads.all(userMessageOfRun, { chatKey, runId }));
    if (row === undefined) return null;
    const attachments = await reads.query(attachmentsOfRuns(chatKey, [runId]));
    return { text: JSON.parse(row.content_json) as string, attachments };
  }

  /** The response of the run is not found any more. Returns false if it was deleted already. */
  async deleteResponse(runId: RunId): Promise<boolean> {
    const now = Date.now();
    return (await this.#store.transact('account', (tx) => tx.run(deleteResponse, { runId, now }))) === 1;
  }

  /** Includes events that are not stored yet if the run is on this node, and never the end events of an unfinished run. */
  lastEventId(row: StatusRow): number {
    if (isFinished(row.status)) return row.last_event_id ?? 0;
    // `meta` counts from admission on, although the first flush stores it.
    return Math.max(row.last_stored_id ?? 1, this.#eventLog.hot(row.run_id)?.lastIdBeforeEnd ?? 0);
  }

  async get(scope: Scope, runId: string) {
    const row = await this.row(scope, runId);
    const details = await readDetails(this.#store.reads, [row]);
    const run = runJson(row, details.get(row.run_id), this.lastEventId(row));
    // Costs are not for client tokens.
    return scope.member === null ? run : { ...run, cost: null };
  }

  /** The active run whose request brought this metadata; null if there is none. */
  async findActive({ integrationId }: Scope, name: string, value: string): Promise<RunId | null> {
    const rows = await this.#store.reads.all(activeExtras, { integrationId });
    return rows.find((row) => parseExtras(row.extras_json).metadata?.[name] === value)?.run_id ?? null;
  }

  chatStatus(scope: Scope, query: ChatStatusQuery) {
    return chatStatus(this.#store.reads, this.#ids, scope, query, (run) => this.lastEventId(run));
  }

  async list(integrationId: IntegrationId, query: RunQuery) {
    const { chatId, consumerId, status, agent, rerunOf, texts: hasTexts = true, q } = query;
    const texts = hasTexts ? 'answer' : 'previews';
    const listed = {
      integrationId,
      chatId,
      consumerId,
      status,
      agent,
      rerunOf,
      texts,
      ...admissionTimes(query),
    } as const;
    const words = q === undefined ? null : soughtWords(integrationId, q);
    const found =
      words === null ? null : await this.#search.runs(this.#pages.turnsOf(query), listed, words, toPage(query));
    const filter = { ...listed, runIds: found === null ? undefined : jsonRows(found.ids.map((id) => ({ id }))) };
    const { reads } = this.#store;
    let oldest: ListPosition | null = null;
    return this.#pages.read(query, {
      showsAll: true,
      sizes: async (page) => {
        if (found === null && readsInOrder(filter)) {
          const last = await first(reads.query(lastReadRun({ ...filter, ...page })));
          oldest = last === undefined ? null : { createdAt: last.created_at, id: last.run_id };
        }
        return reads.query(runSizes({ ...filter, ...page, oldest }));
      },
      rows: async (page) => {
        const rows = await reads.query(listRuns({ ...filter, ...page, oldest }));
        const details = await readDetails(reads, rows);
        return rows.map((row) => ({ row, details: details.get(row.run_id) }));
      },
      readTo: () => found?.readTo ?? oldest,
      position: ({ row }) => ({ createdAt: row.created_at, id: row.run_id }),
      show: (run) => runItem(run, this.lastEventId(run.row), hasTexts),
    });
  }

  async usage(takeTurn: TakeTurn, integrationId: IntegrationId, query: UsageQuery): Promise<ListPage> {
    using _turn = await takeTurn();
    const limit = query.limit ?? DEFAULT_LIMIT;
    // One more than is shown: if it exists, there is another page.
    const page = { before: decodeCursor(query.cursor), limit: limit + 1 };
    const rows = await readUsage(this.#store.reads, this.#ids, integrationId, query, page);
    return pageOfRows(rows, limit, cursorBy(usagePosition), usageJson);
  }

  usageRows(integrationId: IntegrationId, query: UsageQuery, page: Page): Promise<UsageRow[]> {
    return readUsage(this.#store.reads, this.#ids, integrationId, query, page);
  }

  usageSummary(takeTurn: TakeTurn, integrationId: IntegrationId, query: SummaryQuery) {
    const source = { reads: this.#store.reads, takeTurn, closedDays: this.#closedDays };
    return usageSummary(source, integrationId, query);
  }

  overview(takeTurn: TakeTurn, query: OverviewQuery) {
    return overview({ reads: this.#store.reads, takeTurn, closedDays: this.#closedDays }, query);
  }

  latency(takeTurn: TakeTurn, integrationId: IntegrationId, query: LatencyQuery) {
    return this.#latency.summary({ reads: this.#store.reads, takeTurn }, integrationId, query);
  }
}
