import { Worker } from 'node:worker_threads';
import type { WholePart } from './conversion.ts';
import type { DocumentLimits } from './document-limits.ts';
import type { FileContent, SourceFile } from './file-content.ts';
import { readSoFar } from './read-so-far.ts';
import { TOO_COMPLEX, Unreadable } from './unreadable.ts';

export interface ThreadTask {
  readonly source: SourceFile;
  readonly limits: DocumentLimits;
  readonly pdf: boolean;
}

export type FromThread =
  | { readonly type: 'part'; readonly part: WholePart }
  | { readonly type: 'read'; readonly file: FileContent }
  | { readonly type: 'unreadable'; readonly message: string };

const MEBIBYTE = 1024 * 1024;
const MAX_HEAP_MEBIBYTES = 384;
/** The limit for buffers, which are not part of the heap: the file, its unzipped parts and a PDF's streams. */
const MAX_BUFFERS_BYTES = 320 * MEBIBYTE;
/** The limit for the whole process, so that it stays below 512 MiB. A file can use much of the heap and of the buffers. */
const MAX_PROCESS_BYTES = 448 * MEBIBYTE;
const WATCH_EVERY_MS = 50;

/** A thread that reads one file at a time. It ends if the file exceeds its time or its memory. */
export class DocumentWorker {
  readonly #thread: Worker;
  #ended = false;

  constructor() {
    const file = import.meta.url.endsWith('.ts') ? './document-thread.ts' : './document-thread.js';
    this.#thread = new Worker(new URL(file, import.meta.url), {
      // Not mixed with our own output, because libraries print complaints about files.
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

  async read(task: ThreadTask): Promise<FileContent | Unreadable> {
    const thread = this.#thread;
    const parts: WholePart[] = [];
    const { promise, resolve } = Promise.withResolvers<FileContent | Unreadable>();
    const endWith = (outcome: FileContent | Unreadable) => {
      this.#ended = true;
      void thread.terminate();
      resolve(outcome);
    };
    const onMessage = (message: FromThread) => {
      if (message.type === 'part') parts.push(message.part);
      else resolve(message.type === 'read' ? message.file : new Unreadable(message.message));
    };
    const onError = (cause: unknown) => endWith(unreadableBy(cause));
    const onExit = () => onError(new Error('The document thread ended.'));
    const { conversionMs } = task.limits;
    const timer = setTimeout(() => endWith(readSoFar(parts, conversionMs)), conversionMs);
    const watch = setInterval(async () => {
      if (process.memoryUsage.rss() > MAX_PROCESS_BYTES) endWith(new Unreadable(TOO_COMPLEX));
      const memory = await thread.getHeapStatistics().catch(() => null);
      if (memory !== null && memory.external_memory > MAX_BUFFERS_BYTES) endWith(new Unreadable(TOO_COMPLEX));
    }, WATCH_EVERY_MS);

    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    if (this.#ended) onExit();
    else thread.postMessage(task, [task.source.bytes.buffer]);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
    }
  }
}

function unreadableBy(cause: unknown): Unreadable {
  const isMemory = cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return new Unreadable(isMemory ? TOO_COMPLEX : 'could not be read: it is damaged or too complex');
}
