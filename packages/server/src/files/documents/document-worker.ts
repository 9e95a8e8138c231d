import { Worker } from 'node:worker_threads';
import type { WholePart } from './conversion.ts';
import type { DocumentLimits } from './document-limits.ts';
import type { Given, ReadFile } from './read-file.ts';
import { readSoFar } from './read-so-far.ts';
import { Unreadable } from './unreadable.ts';

export interface ThreadTask {
  readonly given: Given;
  readonly limits: DocumentLimits;
  readonly pdf: boolean;
}

export type FromThread =
  | { readonly type: 'part'; readonly part: WholePart }
  | { readonly type: 'read'; readonly file: ReadFile }
  | { readonly type: 'unreadable'; readonly message: string };

const MEBIBYTE = 1024 * 1024;
const MAX_HEAP_MEBIBYTES = 512;
/** Of buffers, which are no part of the heap: the file, what was unzipped of it, what a PDF's streams hold. */
const MAX_BUFFERS_BYTES = 512 * MEBIBYTE;
const WATCH_EVERY_MS = 200;

const TOO_COMPLEX =
  'is too complex: reading it takes more memory than one file may have; attach a simpler or shorter one';

/** One thread that reads one file at a time. It ends when a file's time is up, when its memory is, or when it is told to. */
export class DocumentWorker implements AsyncDisposable {
  readonly #thread: Worker;
  #ended = false;

  constructor() {
    const file = import.meta.url.endsWith('.ts') ? './document-thread.ts' : './document-thread.js';
    this.#thread = new Worker(new URL(file, import.meta.url), {
      env: {},
      argv: [],
      execArgv: [],
      // Kept from ours: libraries complain there about files.
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MEBIBYTES, maxYoungGenerationSizeMb: 32 },
    });
    this.#thread.stdout.resume();
    this.#thread.stderr.resume();
    this.#thread.on('error', () => {});
    this.#thread.on('exit', () => {
      this.#ended = true;
    });
    this.#thread.unref();
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Rejects with `Unreadable`, or the reason of the signal. */
  read(task: ThreadTask, signal: AbortSignal): Promise<ReadFile> {
    const thread = this.#thread;
    const parts: WholePart[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<ReadFile>();
    const settle = (outcome: ReadFile | Unreadable) => {
      if (outcome instanceof Unreadable) reject(outcome);
      else resolve(outcome);
    };
    const endWith = (outcome: ReadFile | Unreadable) => {
      this.#end();
      settle(outcome);
    };
    const onMessage = (message: FromThread) => {
      if (message.type === 'part') parts.push(message.part);
      else settle(message.type === 'read' ? message.file : new Unreadable(message.message));
    };
    const onAbort = () => {
      this.#end();
      reject(signal.reason);
    };
    const onError = (cause: unknown) => endWith(unreadableBy(cause));
    const onExit = () => onError(new Error('The thread that reads documents ended.'));
    const timer = setTimeout(() => endWith(readSoFar(parts, task.limits.conversionMs)), task.limits.conversionMs);
    const watch = setInterval(async () => {
      const memory = await thread.getHeapStatistics().catch(() => null);
      if (memory !== null && memory.external_memory > MAX_BUFFERS_BYTES) {
        endWith(new Unreadable(TOO_COMPLEX));
      }
    }, WATCH_EVERY_MS);

    thread.ref();
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    signal.addEventListener('abort', onAbort);
    if (this.#ended) onExit();
    else if (signal.aborted) onAbort();
    else thread.postMessage(task, [task.given.bytes.buffer]);
    return promise.finally(() => {
      clearTimeout(timer);
      clearInterval(watch);
      signal.removeEventListener('abort', onAbort);
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      thread.unref();
    });
  }

  #end(): Promise<unknown> {
    this.#ended = true;
    return this.#thread.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}

function unreadableBy(cause: unknown): Unreadable {
  const isMemory = cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return new Unreadable(isMemory ? TOO_COMPLEX : 'could not be read: it is damaged or too complex', { cause });
}
