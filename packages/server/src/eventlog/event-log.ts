import { CellMap } from '@runwire/lib/cells.ts';
import type { RunId } from '../domain/ids.ts';
import { attemptBase, lastFrameId, type RunEvent } from '../domain/run/events.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import { allChunks, chunkAfter, insertChunk, lastStoredId } from '../store/queries/eventlog.ts';
import { markRunning } from '../store/queries/runs.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type DecodedChunk, decodeChunk } from './chunk-codec.ts';
import { inPortions, type UnstoredChunks } from './flush-portions.ts';
import type { LiveLog } from './live-log.ts';
import type { RemoteLogs } from './remote-logs.ts';
import { type Chunk, RunLog, type RunLogBounds } from './run-log.ts';
import { UnstoredBytes } from './unstored-bytes.ts';

export interface EventLogOptions extends RunLogBounds {
  readonly flushMs: number;
  /** When so many bytes of events of all runs are not stored, the server reads from no provider. */
  readonly unstoredBytes: number;
}

/** One transaction's limit: a healthy database stores much more before the transaction times out. */
const FLUSH_BYTES = 8 * 1024 * 1024;

/** Writes chunks inside the caller's transaction, so that a step or an end commits together with its events. */
export async function storeChunks(tx: Tx, runId: RunId, chunks: readonly Chunk[]): Promise<void> {
  // Read when the job runs, not when it is handed in: before a job runs on a new connection, the flags are reset.
  const unsent = chunks.filter(({ isSent }) => isSent !== true);
  await Promise.all(
    unsent.map(({ first_id, last_id, data }) => tx.run(insertChunk, { run_id: runId, first_id, last_id, data })),
  );
}

function markSent({ log, chunks }: UnstoredChunks, isSent: boolean): void {
  for (const chunk of chunks) chunk.isSent = isSent;
  log.markedRunning = isSent && isUnderWay(log, chunks);
}

/** A run is running from the first event after its opening. */
const isUnderWay = ({ attempt }: RunLog, chunks: readonly Chunk[]): boolean =>
  (chunks.at(-1)?.last_id ?? 0) > attemptBase(attempt) + 1;

async function storeLog(tx: Tx, log: RunLog, chunks: readonly Chunk[]): Promise<void> {
  const marked =
    log.markedRunning || !isUnderWay(log, chunks)
      ? null
      : tx.run(markRunning, { runId: log.runId, now: log.startedAt });
  await Promise.all([marked, storeChunks(tx, log.runId, chunks)]);
}

function stored({ log, chunks }: UnstoredChunks): void {
  log.markedRunning ||= isUnderWay(log, chunks);
  log.acknowledge(chunks.at(-1)?.last_id ?? 0);
}

/** `messages` and `end`, with which every run ends. */
const FRAMES_OF_END = 2;

/** The runs' logs on this node, and the stored events of all runs. */
export class EventLog implements AsyncDisposable {
  readonly #store: Store;
  readonly #options: EventLogOptions;
  readonly #logger: Logger;
  readonly #logs = new CellMap<RunId, RunLog>();
  readonly #unstored: UnstoredBytes;
  readonly #dirty = new CellMap<RunId, RunLog>();
  #undelivered: RunLog[] = [];
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> | null = null;
  #failing = false;
  /** True while a caller waits until its events are durable. */
  #durably = false;
  /** The number of flushes whose commits are not durable yet. */
  #undurable = 0;
  #isSettling = false;
  readonly #onStored: ((lagMs: number) => void) | null;
  /** Null if the store has no other nodes. */
  readonly #remote: RemoteLogs | null;

  constructor(
    store: Store,
    options: EventLogOptions,
    logger: Logger,
    onStored: ((lagMs: number) => void) | null = null,
    remote: RemoteLogs | null = null,
  ) {
    this.#store = store;
    this.#options = options;
    this.#unstored = new UnstoredBytes(options.unstoredBytes, this.#flushForRoom);
    this.#logger = logger;
    this.#onStored = onStored;
    this.#remote = remote;
  }

  /** `stored` holds the events of this attempt that are already durable. */
  open(runId: RunId, attempt: number, stored: readonly RunEvent[]): RunLog {
    const log = new RunLog({
      runId,
      attempt,
      stored,
      bounds: this.#options,
      unstored: this.#unstored,
      onAppend: this.#appended,
    });
    log.onStored = this.#onStored;
    this.#logs.set(runId, log);
    // If the run was taken over from another node, its readers on this node now follow the hot end.
    this.#remote?.move(runId);
    return log;
  }

  get unstoredBytes(): number {
    return this.#unstored.bytes;
  }

  hot(runId: RunId): RunLog | undefined {
    return this.#logs.get(runId);
  }

  /** The source of new events: the hot end, or the remote log of a run that another node executes. */
  live(runId: RunId): LiveLog | undefined {
    return this.#logs.get(runId) ?? this.#remote?.get(runId);
  }

  /** Follows a run that this node does not execute. Returns null if no other node exists: then no event will follow. */
  followElsewhere(runId: RunId, cursor: number): LiveLog | null {
    return this.#remote?.open(runId, cursor) ?? null;
  }

  /** Called after the end, or when this node stops executing the run. Cuts the readers that are still waiting. */
  close(log: RunLog): void {
    log.deliver();
    this.drop(log);
  }

  /** Called when another node owns the run. Events that are not delivered or stored yet are discarded. */
  drop(log: RunLog): void {
    // This node may have taken the same run over again in between.
    if (this.#logs.get(log.runId) === log) this.#logs.delete(log.runId);
    if (this.#dirty.get(log.runId) === log) this.#dirty.delete(log.runId);
    log.release();
    log.cut();
  }

  /** A log waits for room, so the next flush starts immediately instead of by the clock. */
  #flushForRoom = (): void => {
    if (this.#failing) return;
    if (this.#timer === null) {
      this.#settleForRoom();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#flushSoon, 0);
  };

  /** If the room is taken by events that are only not durable yet, a durable commit follows immediately. */
  #settleForRoom(): void {
    const isDue = this.#undurable > 0 && this.#unstored.hasWaiting;
    if (!isDue || this.#isSettling || this.#flushing !== null) return;
    this.#isSettling = true;
    this.#store
      .transact('flush', async () => {})
      .then(
        () => true,
        // The store repeats it by its own clock.
        () => false,
      )
      .then((isDurable) => {
        this.#isSettling = false;
        if (isDurable) this.#settleForRoom();
      });
  }

  #appended = (log: RunLog): void => {
    // Events that are appended in one turn of the event loop are sent in one write per reader.
    if (!log.deliveryPending) {
      log.deliveryPending = true;
      if (this.#undelivered.push(log) === 1) setImmediate(this.#deliver);
    }
    // A run that this node took over again has another log.
    if (this.#logs.get(log.runId) !== log) return;
    if (this.#dirty.get(log.runId) !== log) {
      this.#dirty.set(log.runId, log);
      this.#timer ??= setTimeout(this.#flushSoon, this.#flushDelayMs);
    }
  };

  #deliver = (): void => {
    const logs = this.#undelivered;
    this.#undelivered = [];
    for (const log of logs) {
      log.deliveryPending = false;
      log.deliver();
    }
  };

  get #flushDelayMs(): number {
    if (this.#failing) return this.#options.flushMs * 10;
    return this.#unstored.hasWaiting ? 0 : this.#options.flushMs;
  }

  #flushSoon = (): void => {
    this.#timer = null;
    void this.flush();
  };

  /** T2: stores the unstored events of all runs of this node, in one transaction unless they exceed `FLUSH_BYTES`. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = null;
      if (this.#dirty.size > 0) this.#timer ??= setTimeout(this.#flushSoon, this.#flushDelayMs);
      else this.#settleForRoom();
    });
    return this.#flushing;
  }

  /**
   * Stores everything that was appended before the call, and waits until it is durable. A flush under way may have started
   * without some of it.
   */
  async flushAll(): Promise<void> {
    this.#durably = true;
    try {
      if (this.#flushing !== null) {
        await this.#flushing;
        if (this.#failing) return;
      }
      await this.flush();
      if (this.#undurable > 0 && !this.#failing) await this.#store.transact('flush', async () => {});
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    } finally {
      this.#durably = false;
    }
  }

  async #flush(): Promise<void> {
    const work: UnstoredChunks[] = [];
    for (const log of this.#dirty.values()) if (log.wantsFlush) work.push({ log, chunks: log.takeChunks() });
    this.#dirty.clear();
    const refused = new Set<RunLog>();
    for (const portion of inPortions(work, FLUSH_BYTES)) {
      // During the previous portion, runs may have ended or been lost. After a refused chunk nothing of its run is stored.
      const due = portion.filter(({ log }) => log.wantsFlush && !refused.has(log));
      // If the store is unavailable, the rest waits for the next flush too.
      if (due.length > 0 && !(await this.#flushPortion(due, refused))) return this.#markDirty(work);
    }
  }

  /** Returns false if the store is unavailable. */
  async #flushPortion(work: readonly UnstoredChunks[], refused: Set<RunLog>): Promise<boolean> {
    try {
      await this.#commit(work, async (tx) => {
        await Promise.all(work.map(({ log, chunks }) => storeLog(tx, log, chunks)));
      });
      this.#failing = false;
    } catch (error) {
      // Logged once, however long it lasts.
      if (!this.#failing) {
        const about = { err: error, runs: work.length };
        this.#logger.error(about, 'event flushes fail; the events stay in memory; retrying');
      }
      this.#failing = true;
      if (error instanceof StoreUnavailable) return false;
      await Promise.all(work.map(({ log, chunks }) => this.#flushAlone(log, chunks, refused)));
    }
    return true;
  }

  /**
   * Waits until the events are durable only if the caller needs that or memory is short. Otherwise they stay in memory until
   * a later commit has made them durable, and are sent again if the database may have lost them.
   */
  async #commit(work: readonly UnstoredChunks[], job: (tx: Tx) => Promise<void>): Promise<void> {
    if (this.#store.transactEarly === undefined || this.#durably || this.#unstored.hasWaiting) {
      await this.#store.transact('flush', job);
      for (const each of work) stored(each);
      return;
    }
    const { durable } = await this.#store.transactEarly('flush', job);
    for (const each of work) markSent(each, true);
    this.#undurable += 1;
    durable
      .then(
        () => {
          for (const each of work) stored(each);
        },
        () => {
          for (const each of work) markSent(each, false);
          this.#markDirty(work);
          if (this.#dirty.size > 0) this.#timer ??= setTimeout(this.#flushSoon, this.#flushDelayMs);
        },
      )
      .finally(() => {
        this.#undurable -= 1;
      });
  }

  /** The events stay in memory and the chunks keep their first and last ids: the next flush, step or end writes them. */
  #markDirty(work: readonly UnstoredChunks[]): void {
    for (const { log } of work)
      if (this.#logs.get(log.runId) === log && log.wantsFlush) this.#dirty.set(log.runId, log);
  }

  /** After a refused flush each run is stored in its own transaction, so that only the run at fault fails. */
  async #flushAlone(log: RunLog, chunks: readonly Chunk[], refused: Set<RunLog>): Promise<void> {
    if (!log.wantsFlush) return;
    try {
      await this.#store.transact('flush', (tx) => storeLog(tx, log, chunks));
      stored({ log, chunks });
      this.#failing = false;
    } catch (error) {
      refused.add(log);
      if (this.#logs.get(log.runId) !== log) return;
      if (error instanceof StoreUnavailable) this.#dirty.set(log.runId, log);
      else log.onRefused?.(error);
    }
  }

  /** Returns the stored chunk that continues after `cursor`, or null if there is none. */
  async storedAfter(runId: RunId, cursor: number): Promise<DecodedChunk | null> {
    const row = await first(this.#store.reads.all(chunkAfter, { runId, after: cursor }));
    if (row === undefined) return null;
    const { events, compacted } = decodeChunk(row.first_id, row.data);
    const from = events.findIndex((event) => lastFrameId(event) > cursor);
    return { events: from <= 0 ? events : events.slice(from), compacted };
  }

  /** The id before `messages`, for a reader whose cursor is after the end. Null if the run's end is not stored. */
  async idBeforeEnd(runId: RunId): Promise<number | null> {
    const last = await first(this.#store.reads.all(lastStoredId, { runId }));
    if (last === undefined) return null;
    const page = await this.storedAfter(runId, last.last_id - 1);
    return page?.events.at(-1)?.type === 'end' ? last.last_id - FRAMES_OF_END : null;
  }

  readFailed(runId: RunId, error: unknown): void {
    this.#logger.error({ err: error, runId }, 'the event log of a run could not be read; its reader was disconnected');
  }

  async allStored(tx: Tx, runId: RunId): Promise<RunEvent[]> {
    const rows = await tx.all(allChunks, { runId });
    return rows.flatMap((row) => decodeChunk(row.first_id, row.data).events);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.flushAll();
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const log of [...this.#logs.values()]) this.close(log);
  }
}
