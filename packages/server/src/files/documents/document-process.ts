import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DocumentLimits } from './document-limits.ts';
import type { ThreadTask } from './document-worker.ts';
import { asText, type ReadFile } from './read-file.ts';
import { TOO_COMPLEX, Unreadable } from './unreadable.ts';

/** Its bytes follow at the standard input. */
export interface ToChild {
  readonly sizeBytes: number;
  readonly contentType: string | null;
  readonly name: string;
  readonly limits: DocumentLimits;
  readonly pdf: boolean;
}

/** Also where a file was being read. */
export class ReaderClosed extends Error {
  constructor() {
    super('The reader of documents is closed.');
  }
}

export type FromChild =
  | { readonly type: 'ready' }
  | { readonly type: 'pdf'; readonly pages: number }
  | { readonly type: 'text'; readonly mediaType: string; readonly text: string }
  | { readonly type: 'unreadable'; readonly message: string };

/** The process keeps the time itself; where it does not answer even so long after, it is ended. */
const GRACE_MS = 15_000;

/**
 * One process that reads one file at a time. A thread would not do: where a thread asks for much memory at once (a large array or
 * map that grows), V8 ends the whole process, whatever its limits. It may read files and start its thread, and nothing else:
 * no network, no writing, no other process.
 */
export class DocumentProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #failure: Error | null = null;
  #isReady = false;
  #ended = false;

  constructor() {
    const file = import.meta.url.endsWith('.ts') ? './document-child.ts' : './document-child.js';
    this.#child = fork(fileURLToPath(new URL(file, import.meta.url)), {
      env: {},
      execArgv: ['--permission', '--allow-fs-read=*', '--allow-worker'],
      stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    });
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.once('error', (error) => {
        this.#failure = error;
        resolve();
      });
    });
    this.#child.once('message', () => {
      this.#isReady = true;
    });
    void this.#exited.then(() => {
      this.#ended = true;
    });
    // A pipe to what has ended.
    this.#child.stdin?.on('error', () => {});
    this.#hold(false);
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Rejects with `Unreadable`, or the reason of the signal. */
  async read({ given, limits, pdf }: ThreadTask, signal: AbortSignal): Promise<ReadFile> {
    const { promise, resolve, reject } = Promise.withResolvers<ReadFile>();
    const { bytes, contentType, name } = given;
    const onMessage = (message: FromChild) => {
      if (message.type === 'ready') return;
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
    void this.#exited.then(() => endWith(this.#whyEnded()));
    if (signal.aborted) onAbort();
    else if (!this.#ended) {
      const task: ToChild = { sizeBytes: bytes.length, contentType, name, limits, pdf };
      this.#child.send(task, () => {});
      this.#child.stdin?.write(bytes);
    }
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.#child.off('message', onMessage);
      this.#hold(false);
    }
  }

  /** Whether it keeps our own process alive: while it reads. */
  #hold(on: boolean): void {
    for (const handle of [this.#child, this.#child.channel, this.#child.stdin as Handle | null]) {
      if (on) handle?.ref();
      else handle?.unref();
    }
  }

  /** Where it had begun and nobody ended it, the file did. */
  #whyEnded(): Error {
    if (this.#failure !== null) return this.#failure;
    if (this.#isReady) return new Unreadable(TOO_COMPLEX);
    const { exitCode, signalCode } = this.#child;
    return new Error(`The process that reads documents did not start: it ended with ${exitCode ?? signalCode}.`);
  }

  async #end(): Promise<void> {
    this.#ended = true;
    // Waited for.
    this.#child.ref();
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#failure = new ReaderClosed();
    await this.#end();
  }
}

/** A pipe is a socket, which the type of `stdin` does not tell. */
interface Handle {
  ref(): unknown;
  unref(): unknown;
}
