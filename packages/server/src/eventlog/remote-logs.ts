import { WakeableLoop } from '@runwire/lib/wakeable-loop.ts';
import type { RunId } from '../domain/ids.ts';
import { isFinished } from '../domain/run-state.ts';
import type { Notifier } from '../store/notifier.ts';
import { type RemoteNews, remoteNews } from '../store/queries/across-nodes.ts';
import type { Reads } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { decodeChunk } from './chunk-codec.ts';
import { RemoteLog } from './remote-log.ts';

/** Hints may be lost, so the store is polled each second too. */
const POLL_MS = 1000;
/** A query returns one chunk of each run: that is at most 4 MiB with chunks of the usual size. */
const RUNS_PER_QUERY = 64;

/**
 * All runs of other nodes that readers on this node follow. A hint of the other node, or the clock, starts one query for
 * all of them. Each new chunk is read once and delivered to all readers of the run. No reader depends on a hint: every
 * run is queried after its first reader has attached, and again each second.
 */
export class RemoteLogs implements AsyncDisposable {
  readonly #reads: Reads;
  readonly #logger: Logger;
  readonly #logs = new Map<RunId, RemoteLog>();
  readonly #due = new Set<RemoteLog>();
  readonly #loop: WakeableLoop;
  readonly #unlisten: () => void;

  constructor(reads: Reads, notifier: Notifier, logger: Logger) {
    this.#reads = reads;
    this.#logger = logger;
    this.#loop = new WakeableLoop(
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

  get(runId: RunId): RemoteLog | undefined {
    return this.#logs.get(runId);
  }

  /**
   * The caller has read everything that is stored up to `cursor`, and attaches its reader in the same synchronous step. The
   * next query finds what was stored since then. Another reader may have a cursor after everything that is stored.
   */
  open(runId: RunId, cursor: number): RemoteLog {
    const log = this.#logs.get(runId) ?? new RemoteLog(runId, cursor, this.#left);
    log.goBackTo(cursor);
    this.#logs.set(runId, log);
    this.#due.add(log);
    this.#loop.wake();
    return log;
  }

  /** Called when this node has taken the run over. */
  move(runId: RunId): void {
    this.#logs.get(runId)?.move();
  }

  #left = (log: RemoteLog): void => {
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
      for (const news of await this.#reads.all(remoteNews, { runIds, afters })) this.#deliver(asked, news);
    }
  }

  #deliver(asked: ReadonlyMap<RemoteLog, number>, news: RemoteNews): void {
    const log = this.#logs.get(news.run_id);
    // The answer is outdated: no reader follows the run any more, or its position has changed. It is queried again.
    if (log === undefined || asked.get(log) !== log.lastId) return;
    log.nodeId = news.node_id;
    // A reader gets either all events or the compacted ones, never a mixture.
    if (news.compacted === true) {
      log.cut();
      return;
    }
    if (news.data === null || news.first_id === null || news.last_id === null) {
      // The run was deleted with its chat, or it has ended. No event will follow.
      if (news.status === null) log.cut();
      else if (isFinished(news.status)) log.end();
      return;
    }
    try {
      const { events } = decodeChunk(news.first_id, news.data);
      log.hand(events, news.last_id);
    } catch (error) {
      this.#logger.error(
        { err: error, runId: log.runId },
        'the stored events of a run could not be read; the connections of its readers were closed',
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
