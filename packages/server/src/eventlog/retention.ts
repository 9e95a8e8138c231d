import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventSize, type RunEvent } from '../domain/events.ts';
import { Sweep } from '../lib/sweep.ts';
import { allChunks } from '../store/queries/eventlog.ts';
import { deleteChunks, markCompacted, runsToCompact } from '../store/queries/retention.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { decodeChunk, encodeCompactedChunk } from './chunk-codec.ts';
import { compactEvents } from './compact-events.ts';
import { storeChunks } from './event-log.ts';
import { type Chunk, encodeWithin } from './run-log.ts';

export interface RetentionOptions {
  readonly logMs: number;
  readonly sweepMs: number;
  readonly chunkBytes: number;
}

/** Runs that are compacted in one commit: few enough that other writers do not notice the wait. */
const RUNS_PER_BATCH = 16;
const BYTES_PER_BATCH = 1024 * 1024;
const BYTES_PER_TURN = 512 * 1024;

interface Compaction {
  readonly runId: string;
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

/** T7 for events: compacts the events of runs that ended long enough ago, a few runs at a time. */
export class Retention extends Sweep {
  readonly #store: Store;
  readonly #options: RetentionOptions;
  readonly #logger: Logger;

  constructor(store: Store, options: RetentionOptions, logger: Logger) {
    super(options.sweepMs, 'stored events', logger);
    this.#store = store;
    this.#options = options;
    this.#logger = logger;
  }

  /** Resolves to the number of compacted runs. */
  protected override async sweepOnce(): Promise<number> {
    const until = Date.now() - this.#options.logMs;
    let count = 0;
    let after = { afterTime: -1, afterRunId: '' };
    while (!this.isClosed) {
      const runs = await this.#store.reads.all(runsToCompact, { until, ...after, limit: RUNS_PER_BATCH });
      const last = runs.at(-1);
      if (last === undefined) break;
      const prepared: Compaction[] = [];
      let bytes = 0;
      for (const { run_id: runId, completed_at: time } of runs) {
        after = { afterTime: time ?? 0, afterRunId: runId };
        const compaction = await this.#prepare(runId);
        if (compaction === null) continue;
        prepared.push(compaction);
        bytes += compaction.bytesBefore;
        await nextTurn();
        if (bytes > BYTES_PER_BATCH || this.isClosed) break;
      }
      const done = await Promise.all(prepared.map((compaction) => this.#commit(compaction)));
      count += done.filter(Boolean).length;
    }
    if (count > 0) this.#logger.info({ runs: count }, 'events of ended runs were compacted');
    return count;
  }

  /** Outside the transaction: the chunks of an ended run change only if they are deleted with its chat. */
  async #prepare(runId: string): Promise<Compaction | null> {
    const rows = await this.#store.reads.all(allChunks, { runId });
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
        bytesBefore: rows.reduce((sum, row) => sum + row.data.length, 0),
        chunks: inGroups(compactEvents(events), this.#options.chunkBytes).flatMap((group) =>
          encodeWithin(group, this.#options.chunkBytes, encodeCompactedChunk),
        ),
      };
    } catch (error) {
      // A run that cannot be read does not stop the sweep of the others.
      this.#logger.error({ err: error, runId }, 'the stored events of a run cannot be read; they are not compacted');
      return null;
    }
  }

  #commit({ runId, chunksBefore, chunks }: Compaction): Promise<boolean> {
    return this.#store.transact('sweep', async (tx) => {
      if ((await tx.run(markCompacted, { runId, now: Date.now() })) === 0) return false;
      // If fewer were deleted than were read, the chat was deleted in between: nothing of it is written again.
      if ((await tx.run(deleteChunks, { runId })) === chunksBefore) await storeChunks(tx, runId, chunks);
      return true;
    });
  }
}
