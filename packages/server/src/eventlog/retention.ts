import { setImmediate as nextTurn } from 'node:timers/promises';
import { Sweep } from '@runwire/lib/sweep.ts';
import { firstRunId, type RunId } from '../domain/ids.ts';
import { eventSize, type RunEvent } from '../domain/run/events.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import type { EarlierNodes } from '../store/earlier-nodes.ts';
import { allChunks } from '../store/queries/eventlog.ts';
import { type EventPartition, lockEvents } from '../store/queries/partitions.ts';
import {
  compactionPosition,
  deleteChunks,
  deleteSkippedRun,
  insertCompactedChunk,
  insertSkippedRun,
  markCompacted,
  moveCompactionPosition,
  runsToVisit,
  skippedRuns,
} from '../store/queries/retention.ts';
import { first, type Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { decodeChunk, encodeCompactedChunk, UnknownFormat } from './chunk-codec.ts';
import { compactEvents } from './compact-events.ts';
import { EventPartitions, isInDroppable, partitionsBefore } from './event-partitions.ts';
import { type Chunk, encodeWithin } from './run-log.ts';

export interface RetentionDeps {
  readonly store: Store;
  readonly earlierNodes: EarlierNodes;
  readonly logger: Logger;
}

export interface RetentionOptions {
  readonly logMs: number;
  readonly sweepMs: number;
  readonly chunkBytes: number;
}

/** Runs that are read in one query, most of them compacted already. */
const RUNS_PER_PAGE = 500;
/**
 * The position stays so far before the sweep's time. Within this time a node commits runs whose ids it made earlier, and
 * most runs end. Clocks of nodes differ by less.
 */
const SETTLED_MS = 3_600_000;
/** Runs that are compacted in one commit: few enough that other writers do not notice the wait. */
const RUNS_PER_BATCH = 16;
const BYTES_PER_BATCH = 1024 * 1024;
const BYTES_PER_TURN = 512 * 1024;

interface VisitedRun {
  readonly run_id: RunId;
  readonly completed_at: number | null;
  readonly compacted_at: number | null;
}

interface EventSweep {
  /** Runs that ended by this time are compacted. */
  readonly until: number;
  readonly partitions: readonly EventPartition[];
}

interface Compaction {
  readonly runId: RunId;
  readonly chunksBefore: number;
  readonly bytesBefore: number;
  readonly chunks: readonly Chunk[];
}

/** Groups about as many events as fit into one chunk. Encoding a whole long run and then its halves would cost more. */
function inGroups(events: readonly RunEvent[], maxBytes: number): RunEvent[][] {
  const groups: RunEvent[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const event of events) {
    const size = eventSize(event);
    if (bytes + size > maxBytes) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(event);
    bytes += size;
  }
  return groups;
}

/**
 * T7 for events: compacts the events of runs that ended long enough ago, a few runs at a time. It visits the runs in the order
 * of their ids, which is the order of their admission, and stores its position, so that no index has to contain the runs that
 * wait for it. Runs that are not ready when the position passes them are written down, and visited again in each sweep.
 */
export class Retention extends Sweep {
  readonly #store: Store;
  readonly #earlierNodes: EarlierNodes;
  readonly #options: RetentionOptions;
  readonly #logger: Logger;
  /** Null on the embedded store. */
  readonly #partitions: EventPartitions | null;

  constructor({ store, earlierNodes, logger }: RetentionDeps, options: RetentionOptions) {
    super(options.sweepMs, 'stored events', logger);
    this.#store = store;
    this.#earlierNodes = earlierNodes;
    this.#partitions = store.kind === 'postgres' ? new EventPartitions(store, options.logMs) : null;
    this.#options = options;
    this.#logger = logger;
  }

  /** Resolves to the number of compacted runs. */
  protected override async sweepOnce(): Promise<number> {
    const until = Date.now() - this.#options.logMs;
    const partitions = (await this.#partitions?.addMissing()) ?? [];
    // They do not read `compacted_chunks`, and they compact runs themselves.
    if (this.#earlierNodes.areAlive()) return 0;
    const sweep = { until, partitions };
    const count = (await this.#visitSkipped(sweep)) + (await this.#visitNext(sweep));
    if (count > 0) this.#logger.info({ runs: count }, 'events of ended runs were compacted');
    for (const partition of partitionsBefore(partitions, until - SETTLED_MS)) await this.#drop(partition);
    return count;
  }

  async #drop(partition: EventPartition): Promise<void> {
    if (this.isClosed) return;
    try {
      const isDropped = await this.#partitions?.drop(partition);
      if (isDropped) this.#logger.info({ partition: partition.name }, 'a partition of compacted events was dropped');
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.#logger.info(
        { err: error, partition: partition.name },
        'a partition of events is in use; it is dropped later',
      );
    }
  }

  async #visitSkipped(sweep: EventSweep): Promise<number> {
    let count = 0;
    for (let after = ''; !this.isClosed; ) {
      const runs = await this.#store.reads.all(skippedRuns, { after, limit: RUNS_PER_PAGE });
      const last = runs.at(-1);
      if (last === undefined) break;
      const whole = await this.#compactReady(runs, sweep);
      const done = runs.filter((run) => !whole.has(run.run_id));
      await this.#store.transact('sweep', async (tx) => {
        await Promise.all(done.map((run) => tx.run(deleteSkippedRun, { runId: run.run_id })));
      });
      count += countNew(done);
      after = last.run_id;
    }
    return count;
  }

  async #visitNext(sweep: EventSweep): Promise<number> {
    const { until } = sweep;
    const settled = firstRunId(until - SETTLED_MS);
    const before = firstRunId(until + 1);
    let count = 0;
    let after = (await first(this.#store.reads.all(compactionPosition, {})))?.position ?? '';
    while (!this.isClosed) {
      const runs = await this.#store.reads.all(runsToVisit, { after, before, limit: RUNS_PER_PAGE });
      const last = runs.at(-1);
      if (last === undefined) break;
      const whole = await this.#compactReady(runs, sweep);
      const position = runs.findLast((run) => run.run_id < settled)?.run_id;
      // A sweep that was closed may not have visited all of them.
      if (position !== undefined && !this.isClosed) await this.#passTo(position, whole);
      count += countNew(runs.filter((run) => !whole.has(run.run_id)));
      after = last.run_id;
      await nextTurn();
    }
    return count;
  }

  /** Stores the position together with the runs before it that are not compacted, so that none of them is forgotten. */
  async #passTo(position: string, whole: ReadonlySet<RunId>): Promise<void> {
    await this.#store.transact('sweep', async (tx) => {
      const skipped = [...whole].filter((runId) => runId <= position);
      await Promise.all(skipped.map((runId) => tx.run(insertSkippedRun, { run_id: runId })));
      await tx.run(moveCompactionPosition, { position });
    });
  }

  /** Returns the runs that are not compacted: they are active or ended recently. */
  async #compactReady(runs: readonly VisitedRun[], { until, partitions }: EventSweep): Promise<Set<RunId>> {
    const whole = new Set(runs.filter((run) => run.compacted_at === null).map((run) => run.run_id));
    let batch: Compaction[] = [];
    let bytes = 0;
    const commit = async () => {
      await Promise.all(
        batch.map((compaction) => this.#commit(compaction, isInDroppable(partitions, compaction.runId))),
      );
      for (const { runId } of batch) whole.delete(runId);
      batch = [];
      bytes = 0;
    };
    for (const { run_id: runId, completed_at: endedAt } of runs) {
      if (this.isClosed) break;
      if (!whole.has(runId) || endedAt === null || endedAt > until) continue;
      const compaction = await this.#prepare(runId);
      if (compaction === null) continue;
      batch.push(compaction);
      bytes += compaction.bytesBefore;
      await nextTurn();
      if (batch.length >= RUNS_PER_BATCH || bytes > BYTES_PER_BATCH) await commit();
    }
    await commit();
    return whole;
  }

  /**
   * Outside the transaction: the chunks of an ended run change only if they are deleted with its chat. Resolves to null if
   * only a node of a later version can read them.
   */
  async #prepare(runId: RunId): Promise<Compaction | null> {
    const rows = await this.#store.reads.all(allChunks, { runId });
    const bytesBefore = rows.reduce((sum, row) => sum + row.data.length, 0);
    try {
      const events: RunEvent[] = [];
      let decoded = 0;
      for (const row of rows) {
        for (const event of decodeChunk(row.first_id, row.data).events) events.push(event);
        decoded += row.data.length;
        // Decoding a long run blocks the event loop, so other work gets a turn in between.
        if (decoded < BYTES_PER_TURN) continue;
        decoded = 0;
        await nextTurn();
      }
      return {
        runId,
        chunksBefore: rows.length,
        bytesBefore,
        chunks: inGroups(compactEvents(events), this.#options.chunkBytes).flatMap((group) =>
          encodeWithin(group, this.#options.chunkBytes, encodeCompactedChunk),
        ),
      };
    } catch (error) {
      if (error instanceof UnknownFormat) return null;
      this.#logger.error({ err: error, runId }, 'the stored events of a run cannot be read; they are kept as they are');
      // Kept beside the compacted events, so that the run does not keep its partition.
      return { runId, chunksBefore: rows.length, bytesBefore, chunks: rows };
    }
  }

  /** Another node may have compacted the run concurrently: then nothing changes. */
  async #commit({ runId, chunksBefore, chunks }: Compaction, isDroppedLater: boolean): Promise<void> {
    await this.#store.transact('sweep', async (tx) => {
      if ((await tx.run(markCompacted, { runId, now: Date.now() })) === 0) return;
      const isThere = isDroppedLater
        ? (await tx.all(lockEvents, { runId })).length > 0
        : (await tx.run(deleteChunks, { runId })) === chunksBefore;
      // The chat was deleted after the events were read: nothing of it is written again.
      if (!isThere) return;
      await Promise.all(chunks.map((chunk) => tx.run(insertCompactedChunk, { run_id: runId, ...chunk })));
    });
  }
}

/** The number of these runs that were not compacted when they were read. */
function countNew(runs: readonly VisitedRun[]): number {
  return runs.filter((run) => run.compacted_at === null).length;
}
