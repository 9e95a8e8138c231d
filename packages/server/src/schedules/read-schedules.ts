import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { iso } from '../domain/time.ts';
import type { LargeListQuery, LargePages } from '../store/large-pages.ts';
import { listSchedules, listTicks, type ScheduleRow, scheduleById, scheduleSizes } from '../store/queries/schedules.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import { first, type Reads } from '../store/store.ts';
import { scheduleJson } from './schedule-row.ts';

/** Reads schedules and their ticks. */
export class ScheduleReads {
  readonly #reads: Reads;
  readonly #pages: LargePages;

  constructor(reads: Reads, pages: LargePages) {
    this.#reads = reads;
    this.#pages = pages;
  }

  async row(integrationId: IntegrationId, scheduleId: string): Promise<ScheduleRow> {
    const row = await first(this.#reads.all(scheduleById, { integrationId, scheduleId }));
    if (row === undefined) throw new Refusal('schedule_not_found');
    return row;
  }

  list(integrationId: IntegrationId, query: LargeListQuery) {
    return this.#pages.read(query, {
      showsAll: true,
      sizes: (page) => this.#reads.query(scheduleSizes({ integrationId, ...page })),
      rows: (page) => this.#reads.query(listSchedules({ integrationId, ...page })),
      position: (row) => ({ createdAt: row.created_at, id: row.schedule_id }),
      show: scheduleJson,
    });
  }

  async ticks(integrationId: IntegrationId, scheduleId: string, query: ListQuery) {
    const { schedule_id } = await this.row(integrationId, scheduleId);
    return readPage(
      this.#reads,
      query,
      (page) => listTicks({ scheduleId: schedule_id, ...page }),
      (row) => ({ createdAt: row.tick_at, id: row.schedule_id }),
      (row) => ({
        tick: iso(row.tick_at),
        runId: row.run_id,
        code: row.code,
        error: row.error_json === null ? null : (JSON.parse(row.error_json) as string),
        at: iso(row.recorded_at),
      }),
    );
  }
}
