import { Worker } from 'node:worker_threads';

/** About how many pages are written before the log is copied: 32 MB. */
const PAGES_PER_CHECKPOINT = 8000;
const IDLE_CHECKPOINT_MS = 5000;

/*
 * The write-ahead log is written from its start again only by a writer that finds all of it copied into the
 * database, which one that writes all the time never does: under load it grew to hundreds of megabytes. So a worker
 * copies most of it beside the writer, and then the writer pauses, without blocking its thread, for what is left.
 *
 *   idle ──(enough pages)──▶ copying ──(copied)──▶ pausing ──(copied)──▶ idle
 */
export class Checkpointer implements AsyncDisposable {
  readonly #path: string;
  readonly #onFatal: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #worker: Worker | null = null;
  #pages = 0;
  #state: 'idle' | 'copying' | 'pausing' = 'idle';
  #pause: PromiseWithResolvers<void> | null = null;

  constructor(path: string, onFatal: (error: unknown) => void) {
    this.#path = path;
    this.#onFatal = onFatal;
    this.#timer = setInterval(() => this.#start(1), IDLE_CHECKPOINT_MS);
    this.#timer.unref();
  }

  /** Null, or what the writer has to wait for before its next transaction. */
  get pause(): Promise<void> | null {
    return this.#pause?.promise ?? null;
  }

  wrote(pages: number): void {
    this.#pages += pages;
    this.#start(PAGES_PER_CHECKPOINT);
  }

  #start(atPages: number): void {
    if (this.#state !== 'idle' || this.#pages < atPages) return;
    this.#pages = 0;
    this.#state = 'copying';
    this.#worker ??= this.#startWorker();
    this.#worker.postMessage('copy');
  }

  /** When there is something to copy: a thread costs a start 60 ms of processor. */
  #startWorker(): Worker {
    const file = import.meta.url.endsWith('.ts') ? './checkpoint-worker.ts' : './checkpoint-worker.js';
    const worker = new Worker(new URL(file, import.meta.url), { workerData: { path: this.#path } });
    worker.unref();
    worker.on('error', this.#onFatal);
    worker.on('message', () => this.#copied());
    return worker;
  }

  #copied(): void {
    if (this.#state === 'copying') {
      this.#state = 'pausing';
      this.#pause = Promise.withResolvers();
      this.#worker?.postMessage('copy');
      return;
    }
    this.#state = 'idle';
    this.#pause?.resolve();
    this.#pause = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#worker?.terminate();
    this.#pause?.resolve();
    this.#pause = null;
  }
}
