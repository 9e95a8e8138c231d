import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import type { ScrubDepth } from '../store.ts';
import type { CheckpointOutcome, CheckpointRequest } from './checkpoint-worker.ts';
import { unavailable } from './errors.ts';

/** The log is copied after about this many written pages: 32 MB. */
const PAGES_PER_CHECKPOINT = 8000;
const IDLE_CHECKPOINT_MS = 5000;
const RETRY_MS = 1000;

interface Scrub extends PromiseWithResolvers<void> {
  depth: ScrubDepth;
}

/*
 * A writer begins the write-ahead log from its start again only if all of it is copied into the database. A writer that
 * never pauses never finds that: under load the log grew to hundreds of megabytes. So a worker copies most of the log
 * while the writer works, and then the writer pauses, without blocking its thread, until the rest is copied.
 *
 *   idle ──(enough pages)──▶ copying ──(copied)──▶ pausing ──(copied)──▶ idle
 *                             ▲    └───(failed)───────┴──▶ failed
 *                             └─────────(after 1 s)──────────┘
 *   idle ──(scrub)──▶ scrubbing ──(done or failed)──▶ idle
 *
 * A failed copy loses nothing: SQLite copies the same pages again, and what was committed is durable in the log. During a
 * scrub the writer pauses too.
 */
export class Checkpointer implements AsyncDisposable {
  readonly #path: string;
  readonly #onFailed: (error: Error) => void;
  readonly #timer: NodeJS.Timeout;
  #retry: NodeJS.Timeout | undefined;
  #worker: Worker | null = null;
  #pages = 0;
  #state: 'idle' | 'copying' | 'pausing' | 'scrubbing' | 'failed' = 'idle';
  /** The scrub under way, and the next scrub, for callers that arrived after the current one began. */
  #scrub: Scrub | null = null;
  #nextScrub: Scrub | null = null;
  #pause: PromiseWithResolvers<void> | null = null;
  #failure: Error | null = null;

  /** `onFailed` is called at the first failure after a copy that succeeded. */
  constructor(path: string, onFailed: (error: Error) => void) {
    this.#path = path;
    this.#onFailed = onFailed;
    this.#timer = setInterval(() => this.#start(1), IDLE_CHECKPOINT_MS);
    this.#timer.unref();
  }

  /** What the writer has to wait for before its next transaction; null if it need not wait. */
  get pause(): Promise<void> | null {
    return this.#pause?.promise ?? null;
  }

  /** Why the last copy failed; null if it succeeded. */
  get failure(): Error | null {
    return this.#failure;
  }

  wrote(pages: number): void {
    this.#pages += pages;
    this.#start(PAGES_PER_CHECKPOINT);
  }

  /**
   * Removes bytes of deleted rows from the database's files. Callers that wait concurrently share one scrub, unless it
   * began before their call. Rejects with `StoreUnavailable` if a later retry can succeed.
   */
  scrub(depth: ScrubDepth): Promise<void> {
    this.#nextScrub ??= { ...Promise.withResolvers<void>(), depth };
    if (depth === 'file') this.#nextScrub.depth = depth;
    const { promise } = this.#nextScrub;
    if (this.#state === 'idle') this.#beginScrub();
    return promise;
  }

  #start(atPages: number): void {
    if (this.#state === 'idle' && this.#pages >= atPages) this.#copy();
  }

  #beginScrub(): void {
    const scrub = this.#nextScrub;
    this.#scrub = scrub;
    this.#nextScrub = null;
    this.#state = 'scrubbing';
    this.#pause = Promise.withResolvers();
    this.#ask(scrub?.depth ?? 'log');
  }

  #scrubbed(failure: Error | null): void {
    const scrub = this.#scrub;
    this.#scrub = null;
    // The rewritten database may still be in the log.
    if (failure !== null) this.#pages += 1;
    this.#becomeIdle();
    if (failure === null) scrub?.resolve();
    else scrub?.reject(unavailable(failure));
  }

  #becomeIdle(): void {
    this.#state = 'idle';
    this.#endPause();
    if (this.#nextScrub !== null) this.#beginScrub();
  }

  #ask(request: CheckpointRequest): void {
    this.#worker ??= this.#startWorker();
    this.#worker.postMessage(request);
  }

  #copy(): void {
    this.#pages = 0;
    this.#state = 'copying';
    this.#ask('copy');
  }

  /** The worker starts when there is something to copy, because starting a thread costs 60 ms of CPU. */
  #startWorker(): Worker {
    const file = import.meta.url.endsWith('.ts') ? './checkpoint-worker.ts' : './checkpoint-worker.js';
    const worker = new Worker(new URL(file, import.meta.url), { workerData: { path: this.#path } });
    worker.unref();
    worker.on('message', (outcome: CheckpointOutcome) => {
      const failure = outcome === null ? null : Object.assign(new Error(outcome.message), { errcode: outcome.errcode });
      if (this.#state === 'scrubbing') this.#scrubbed(failure);
      else if (failure === null) this.#copied();
      else this.#failed(failure);
    });
    // The worker could not open the database; the next attempt starts another.
    worker.on('error', (error: Error) => {
      this.#worker = null;
      if (this.#state === 'scrubbing') this.#scrubbed(error);
      else this.#failed(error);
    });
    return worker;
  }

  #copied(): void {
    this.#failure = null;
    if (this.#state === 'copying') {
      this.#state = 'pausing';
      this.#pause = Promise.withResolvers();
      this.#ask('copy');
      return;
    }
    this.#becomeIdle();
  }

  #failed(error: Error): void {
    const isFirst = this.#failure === null;
    this.#failure = error;
    this.#state = 'failed';
    this.#endPause();
    this.#retry = setTimeout(() => this.#copy(), RETRY_MS).unref();
    if (isFirst) this.#onFailed(error);
  }

  #endPause(): void {
    this.#pause?.resolve();
    this.#pause = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#retry);
    const worker = this.#worker;
    worker?.removeAllListeners('message').removeAllListeners('error');
    await worker?.terminate();
    this.#endPause();
    const closed = new StoreUnavailable('The store is closed.');
    for (const scrub of [this.#scrub, this.#nextScrub]) scrub?.reject(closed);
  }
}
