import { isFinished } from '../domain/run-state.ts';
import { WokenLoop } from '../lib/woken-loop.ts';
import type { Notifier } from '../store/notifier.ts';
import { type FarNews, farNews } from '../store/queries/across-nodes.ts';
import type { Reads } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { decodeChunk } from './chunk-codec.ts';
import { FarLog } from './far-log.ts';

/** "A poll each second stands behind" the hints. */
const POLL_MS = 1000;
/** One chunk of each: at most 4 MiB of usual chunks come with one answer. */
const RUNS_PER_QUERY = 64;

/**
 * All runs of other nodes that are followed here. A hint of the node that runs them, and the clock, make it ask the
 * store for all of them at once; each new chunk is read once and handed to all who follow that run. The hint is never
 * the truth: a run is looked at behind the attaching of its first reader, and again each second.
 */
export class FarLogs implements AsyncDisposable {
  readonly #reads: Reads;
  readonly #logger: Logger;
  readonly #logs = new Map<string, FarLog>();
  readonly #due = new Set<FarLog>();
  readonly #loop: WokenLoop;
  readonly #unlisten: () => void;

  constructor(reads: Reads, notifier: Notifier, logger: Logger) {
    this.#reads = reads;
    this.#logger = logger;
    this.#loop = new WokenLoop(
      POLL_MS,
      (byClock) => this.#look(byClock),
      (error) => logger.warn({ err: error }, 'runs of other nodes could not be followed; retrying each second'),
    );
    this.#loop.start();
    this.#unlisten = notifier.listen((hint) => {
      if (hint.kind === 'log') this.#hinted(hint.nodeId);
    });
  }

  get size(): number {
    return this.#logs.size;
  }

  get(runId: string): FarLog | undefined {
    return this.#logs.get(runId);
  }

  /**
   * For a reader that has all that is stored, up to `cursor`, and attaches in this same step: what was stored since its
   * last look is found by the look that follows. Another may have come with a cursor ahead of all that is stored.
   */
  open(runId: string, cursor: number): FarLog {
    const log = this.#logs.get(runId) ?? new FarLog(runId, cursor, this.#left);
    log.goBackTo(cursor);
    this.#logs.set(runId, log);
    this.#due.add(log);
    this.#loop.wake();
    return log;
  }

  /** The run is this node's own from here on. */
  move(runId: string): void {
    this.#logs.get(runId)?.move();
  }

  #left = (log: FarLog): void => {
    if (this.#logs.get(log.runId) === log) this.#logs.delete(log.runId);
    this.#due.delete(log);
  };

  #hinted(nodeId: string): void {
    for (const log of this.#logs.values()) if (log.nodeId === null || log.nodeId === nodeId) this.#due.add(log);
    if (this.#due.size > 0) this.#loop.wake();
  }

  async #look(byClock: boolean): Promise<void> {
    if (byClock) for (const log of this.#logs.values()) this.#due.add(log);
    while (this.#due.size > 0 && !this.#loop.isClosed) {
      const logs = [...this.#due].slice(0, RUNS_PER_QUERY);
      for (const log of logs) this.#due.delete(log);
      const runIds = logs.map(({ runId }) => runId);
      const afters = logs.map(({ lastId }) => lastId);
      const asked = new Map(logs.map((log) => [log, log.lastId]));
      for (const news of await this.#reads.all(farNews, { runIds, afters })) this.#tell(asked, news);
    }
  }

  #tell(asked: ReadonlyMap<FarLog, number>, news: FarNews): void {
    const log = this.#logs.get(news.run_id);
    // Nobody follows it any more, or it went and came again, or back: then it is asked for anew.
    if (log === undefined || asked.get(log) !== log.lastId) return;
    log.nodeId = news.node_id;
    if (news.data === null || news.first_id === null || news.last_id === null) {
      // It ended, and its `end` is behind the readers' cursor, or was deleted with its chat: nothing more comes.
      if (news.status === null || isFinished(news.status)) log.cut();
      return;
    }
    try {
      const { events, compacted } = decodeChunk(news.first_id, news.data);
      // A reader gets the whole run or what stays of it, never a mixture.
      if (compacted) log.cut();
      else log.hand(events, news.last_id);
    } catch (error) {
      this.#logger.error(
        { err: error, runId: log.runId },
        'the event log of a run could not be read; its readers were disconnected',
      );
      log.cut();
    }
    if (news.more && this.#logs.get(log.runId) === log) this.#due.add(log);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unlisten();
    await this.#loop[Symbol.asyncDispose]();
    for (const log of [...this.#logs.values()]) log.cut();
  }
}
