import { firstRunId, readRunIdTime } from '../domain/ids.ts';
import { HOUR_MS } from '../domain/time.ts';
import {
  addPartition,
  dropPartition,
  type EventPartition,
  eventPartitions,
  lockEvents,
  lockPartition,
  lockPartitions,
  moveToCompacted,
  type RunWithoutCompacted,
  readDatabaseTime,
  runsWithoutCompacted,
} from '../store/queries/partitions.ts';
import type { Reads, Store } from '../store/store.ts';

const DAY_MS = 86_400_000;
/** Partitions are added so long before the first run needs them. */
const AHEAD_MS = 2 * DAY_MS;
/** PostgreSQL plans a statement for all partitions: with 60 instead of 11, `GET …/runs/{runId}` takes 150 µs more. */
const MAX_KEPT = 8;

/**
 * The partitions of the table of events on PostgreSQL. A partition has the runs of one day, or of several if events are kept
 * for more than eight days. When all its runs are compacted, it is dropped: no row is deleted, and none is left for vacuum.
 */
export class EventPartitions {
  readonly #store: Store;
  readonly #widthMs: number;

  constructor(store: Store, logMs: number) {
    this.#store = store;
    this.#widthMs = Math.max(1, Math.ceil(logMs / DAY_MS / MAX_KEPT)) * DAY_MS;
  }

  /** Adds the next days' partitions. Returns all. */
  async addMissing(): Promise<EventPartition[]> {
    const found = await eventPartitions(this.#store.reads);
    if (findEnd(found) > Date.now() + AHEAD_MS) return found;
    return this.#store.transact('sweep', async (tx) => {
      await lockPartitions(tx);
      // If this node's clock is ahead, the next partition would be as long, and be dropped as late.
      const nowMs = Math.min(Date.now(), await readDatabaseTime(tx));
      // Another node may have added them before.
      const all = await eventPartitions(tx);
      while (findEnd(all) <= nowMs + AHEAD_MS) {
        const partition = this.#after(findEnd(all), nowMs);
        await addPartition(tx, partition);
        all.push(partition);
      }
      return all;
    });
  }

  /** After a long stop of all nodes, one partition contains the whole time. */
  #after(fromMs: number, nowMs: number): EventPartition {
    const endMs = Math.max(fromMs + this.#widthMs, nowMs - (nowMs % DAY_MS) + DAY_MS);
    const day = new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '');
    return { name: `event_chunks_${day}`, first_id: firstRunId(fromMs), end_id: firstRunId(endMs) };
  }

  /**
   * Drops the partition if all its runs have compacted events. Returns false if not. Throws if the table is in use for longer
   * than the transactions of all nodes should wait.
   */
  async drop(partition: EventPartition): Promise<boolean> {
    const whole = await this.#runsWithoutCompacted(this.#store.reads, partition);
    if (whole.some((run) => run.compacted_at === null)) return false;
    for (const { run_id: runId } of whole) {
      await this.#store.transact('sweep', async (tx) => {
        if ((await tx.all(lockEvents, { runId })).length > 0) await tx.run(moveToCompacted, { runId });
      });
    }
    return this.#store.transact('sweep', async (tx) => {
      await lockPartitions(tx);
      const isThere = (await eventPartitions(tx)).some(({ name }) => name === partition.name);
      if (!isThere) return false;
      // From here on no event is added to it.
      await lockPartition(tx, partition);
      if ((await this.#runsWithoutCompacted(tx, partition)).length > 0) return false;
      await dropPartition(tx, partition);
      return true;
    });
  }

  /** Hour by hour, so that each statement is short. */
  async #runsWithoutCompacted(reads: Reads, { first_id, end_id }: EventPartition): Promise<RunWithoutCompacted[]> {
    const runs: RunWithoutCompacted[] = [];
    const endMs = readRunIdTime(end_id);
    for (let fromMs = readRunIdTime(first_id ?? ''); fromMs < endMs; fromMs += HOUR_MS) {
      const range = { from: firstRunId(fromMs), end: firstRunId(Math.min(fromMs + HOUR_MS, endMs)) };
      runs.push(...(await runsWithoutCompacted(reads, range)));
    }
    return runs;
  }
}

const findEnd = (partitions: readonly EventPartition[]) => readRunIdTime(partitions.at(-1)?.end_id ?? '');

/** True if the run's events are in a partition that will be dropped. */
export function isInDroppable(partitions: readonly EventPartition[], runId: string): boolean {
  return partitions.some(({ first_id, end_id }) => first_id !== null && first_id <= runId && runId < end_id);
}

/** The partitions whose runs were all made before `ms`. The earliest one stays: it has compacted events too. */
export function partitionsBefore(partitions: readonly EventPartition[], ms: number): EventPartition[] {
  return partitions.filter(({ first_id, end_id }) => first_id !== null && readRunIdTime(end_id) <= ms);
}
