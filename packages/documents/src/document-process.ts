import type { ChildProcess } from 'node:child_process';
import type { DocumentLimits } from './document-limits.ts';
import type { ThreadTask } from './document-worker.ts';
import { asText, type FileContent } from './file-content.ts';
import { didNotStart, ProcessFailed } from './process-failed.ts';
import type { StartChild } from './start-document-child.ts';
import { TOO_COMPLEX, Unreadable } from './unreadable.ts';

/** The task for the process. The bytes follow on standard input. */
export interface ToChild {
  readonly sizeBytes: number;
  readonly contentType: string | null;
  readonly name: string;
  readonly limits: DocumentLimits;
  readonly pdf: boolean;
}

/** The reader was closed, possibly while it read a file. */
export class ReaderClosed extends Error {
  constructor() {
    super('The document reader is closed.');
  }
}

/** What became of a file. */
export type ChildAnswer =
  | { readonly type: 'pdf'; readonly pages: number }
  | { readonly type: 'text'; readonly mediaType: string; readonly text: string }
  | { readonly type: 'unreadable'; readonly message: string };

/**
 * `isSpent` is true if the file exceeded its time or its memory, or if the process holds much memory after it. Then the
 * process reads no other file. In the proof `documents` a process that was reused used 563 MiB for a file that needs 436.
 */
export type FromChild = { readonly type: 'ready' } | (ChildAnswer & { readonly isSpent: boolean });

/** The process limits the time itself. If it does not answer within this additional time, it is killed. */
const GRACE_MS = 15_000;
/** V8 ends a process with these signals if it runs out of memory. */
const BY_ITS_OWN_MEMORY: ReadonlySet<NodeJS.Signals | null> = new Set(['SIGABRT', 'SIGTRAP', 'SIGILL']);

/**
 * A process that reads one file at a time. A thread is not enough: if a thread allocates much memory in one step (a
 * large array or map that grows), V8 ends the whole process, whatever the thread's limits.
 */
export class DocumentProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  /** Ends the current read. A finished read must leave nothing here, otherwise its file would stay in memory. */
  #endRead: ((error: Error) => void) | null = null;
  #failure: Error | null = null;
  #isReady = false;
  #ended = false;

  /** Throws `ProcessFailed` if the process cannot be started. */
  constructor(start: StartChild) {
    try {
      this.#child = start();
    } catch (error) {
      throw didNotStart(error);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#exited = promise;
    const onEnd = () => {
      this.#ended = true;
      resolve();
      this.#endRead?.(this.#whyEnded());
    };
    this.#child.once('exit', onEnd);
    this.#child.on('error', (error) => {
      this.#failure ??= didNotStart(error);
      onEnd();
    });
    this.#child.once('message', () => {
      this.#isReady = true;
    });
    // Ignores errors of the pipe to an ended process.
    this.#child.stdin?.on('error', () => {});
    this.#hold(false);
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Rejects with `Unreadable`, `ProcessFailed`, or the signal's reason. */
  async read({ source, limits, pdf }: ThreadTask, signal: AbortSignal): Promise<FileContent> {
    const { promise, resolve, reject } = Promise.withResolvers<FileContent>();
    const { bytes, contentType, name } = source;
    const onMessage = (message: FromChild) => {
      if (message.type === 'ready') return;
      if (message.isSpent) void this.#end();
      if (message.type === 'unreadable') reject(new Unreadable(message.message));
      else if (message.type === 'pdf') {
        resolve({ form: 'pdf', mediaType: 'application/pdf', pages: message.pages, bytes });
      } else resolve(asText(message.mediaType, message.text));
    };
    const endWith = (error: unknown) => {
      void this.#end();
      reject(error);
    };
    const onAbort = () => endWith(signal.reason);
    const tooComplex = () => endWith(new Unreadable(TOO_COMPLEX));
    const timer = setTimeout(tooComplex, limits.conversionMs + GRACE_MS);
    this.#hold(true);
    this.#child.on('message', onMessage);
    signal.addEventListener('abort', onAbort);
    this.#endRead = endWith;
    if (signal.aborted) onAbort();
    else if (this.#ended) endWith(this.#whyEnded());
    // A process that did not start has no channel, and emits an error soon.
    else if (this.#child.connected) {
      const task: ToChild = { sizeBytes: bytes.length, contentType, name, limits, pdf };
      this.#child.send(task, () => {});
      this.#child.stdin?.write(bytes);
    }
    try {
      return await promise;
    } finally {
      this.#endRead = null;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.#child.off('message', onMessage);
      this.#hold(false);
    }
  }

  /** While it reads, it keeps this process alive. */
  #hold(on: boolean): void {
    for (const handle of [this.#child, this.#child.channel, this.#child.stdin as Handle | null]) {
      if (on) handle?.ref();
      else handle?.unref();
    }
  }

  /** If the process ran out of memory, the file is the cause. */
  #whyEnded(): Error {
    if (this.#failure !== null) return this.#failure;
    const { exitCode, signalCode } = this.#child;
    const by = String(signalCode ?? `exit code ${exitCode}`);
    if (!this.#isReady) return didNotStart(new Error(`it ended with ${by}`));
    if (BY_ITS_OWN_MEMORY.has(signalCode)) return new Unreadable(TOO_COMPLEX);
    return new ProcessFailed(by, `The document process ended while it was reading a file: ${by}.`);
  }

  async #end(): Promise<void> {
    this.#ended = true;
    // Keeps this process alive until the other one has exited.
    this.#child.ref();
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#failure = new ReaderClosed();
    await this.#end();
  }
}

/** A pipe is a socket, but the type of `stdin` does not say so. */
interface Handle {
  ref(): unknown;
  unref(): unknown;
}
