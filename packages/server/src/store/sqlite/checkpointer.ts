import { Worker } from 'node:worker_threads';
import type { CheckpointOutcome } from './checkpoint-worker.ts';

/** The log is copied after about this many written pages: 32 MB. */
const PAGES_PER_CHECKPOINT = 8000;
const IDLE_CHECKPOINT_MS = 5000;
const RETRY_MS = 1000;

/*
 * A writer begins the write-ahead log from its start again only if all of it is copied into the database. A writer that
 * never pauses never finds that: under load the log grew to hundreds of megabytes. So a worker copies most of the log
 * while the writer works, and then the writer pauses, without blocking its thread, until the rest is copied.
 *
 *   idle ──(enough pages)──▶ copying ──(copied)──▶ pausing ──(copied)──▶ idle
 *                             ▲    └───(failed)───────┴──▶ failed
 *                             └─────────(after 1 s)──────────┘
 *
 * A failed copy loses nothing: SQLite copies the same pages again, and what was committed is durable in the log.
 */
export class Checkpointer implements AsyncDisposable {
  readonly #path: string;
  readonly #onFailed: (error: Error) => void;
  readonly #timer: NodeJS.Timeout;
  #retry: NodeJS.Timeout | undefined;
  #worker: Worker | null = null;
  #pages = 0;
  #state: 'idle' | 'copying' | 'pausing' | 'failed' = 'idle';
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

  #start(atPages: number): void {
    if (this.#state === 'idle' && this.#pages >= atPages) this.#copy();
  }

  #copy(): void {
    this.#pages = 0;
    this.#state = 'copying';
    this.#worker ??= this.#startWorker();
    this.#worker.postMessage('copy');
  }

  /** The worker starts when there is something to copy, because starting a thread costs 60 ms of CPU. */
  #startWorker(): Worker {
    const file = import.meta.url.endsWith('.ts') ? './checkpoint-worker.ts' : './checkpoint-worker.js';
    const worker = new Worker(new URL(file, import.meta.url), { workerData: { path: this.#path } });
    worker.unref();
    worker.on('message', (outcome: CheckpointOutcome) => {
      if (outcome === null) this.#copied();
      else this.#failed(Object.assign(new Error(outcome.message), { errcode: outcome.errcode }));
    });
    // The worker could not open the database; the next attempt starts another.
    worker.on('error', (error: Error) => {
      this.#worker = null;
      this.#failed(error);
    });
    return worker;
  }

  #copied(): void {
    this.#failure = null;
    if (this.#state === 'copying') {
      this.#state = 'pausing';
      this.#pause = Promise.withResolvers();
      this.#worker?.postMessage('copy');
      return;
    }
    this.#state = 'idle';
    this.#endPause();
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
  }
}
