import { setTimeout as wait } from 'node:timers/promises';
import { imageType } from '../../lib/image-type.ts';
import { claimsOf } from './claimed-type.ts';
import type { DocumentLimits } from './document-limits.ts';
import { DocumentProcess, ReaderClosed } from './document-process.ts';
import type { ThreadTask } from './document-worker.ts';
import { ProcessFailed } from './process-failed.ts';
import { asText, type Given, type ReadFile } from './read-file.ts';
import { readText } from './read-text.ts';
import { sniff } from './sniff.ts';
import { type StartChild, startDocumentChild } from './start-document-child.ts';
import { Turns } from './turns.ts';
import { Unreadable } from './unreadable.ts';

export type { DocumentLimits } from './document-limits.ts';
export type { Given, ReadFile } from './read-file.ts';
export { Unreadable } from './unreadable.ts';

export interface ReadOptions {
  /** The model takes PDFs as they are, where they open and have at most `nativePdfPages`. */
  readonly pdf: boolean;
  /** Turns are shared out evenly among these. */
  readonly whose: string;
}

interface Waiting {
  readonly task: ThreadTask;
  readonly signal: AbortSignal;
  readonly resolve: (file: Promise<ReadFile>) => void;
}

/** Decoding so much takes 2 ms, less than asking another process; 64 KiB take 8. */
const READ_HERE_BYTES = 16 * 1024;
const IDLE_MS = 30_000;
/** Before another process is started where one could not be. */
const RETRY_MS = 1000;

const endedTwice = (by: string) =>
  `could not be read: what read it was ended twice (${by}), as happens where a server runs out of memory; attach it again to a new message, or a shorter one`;

/** Makes of the bytes of a file what a model is sent, in processes of their own, which start when they are needed. */
export class DocumentReader implements AsyncDisposable {
  readonly #limits: DocumentLimits;
  readonly #turns = new Turns<Waiting>();
  readonly #idle: { readonly child: DocumentProcess; readonly timer: NodeJS.Timeout }[] = [];
  readonly #busy = new Set<DocumentProcess>();
  readonly #closing = new AbortController();
  readonly #start: StartChild;
  #reading = 0;

  constructor(limits: DocumentLimits, start: StartChild = startDocumentChild) {
    this.#limits = limits;
    this.#start = start;
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Rejects with `Unreadable`, or the reason of the signal; with `ProcessFailed` where the machine lacks what a process takes. */
  async read(given: Given, { pdf, whose }: ReadOptions, signal: AbortSignal): Promise<ReadFile> {
    signal.throwIfAborted();
    if (given.bytes.length === 0) throw new Unreadable('is empty');
    const image = imageType(given.bytes);
    if (image !== null) return { form: 'image', mediaType: image, bytes: given.bytes };
    if (given.kind === 'input_image') throw new Unreadable('is no PNG, JPEG, GIF or WebP image by its bytes');
    return this.#readSmallText(given) ?? this.#readInTurn({ given, limits: this.#limits, pdf }, whose, signal);
  }

  #readSmallText({ bytes, contentType, name }: Given): ReadFile | null {
    if (bytes.length > READ_HERE_BYTES) return null;
    const claims = claimsOf(contentType, name);
    if (sniff(bytes, claims) !== 'text') return null;
    return asText(claims.textType, readText(bytes, claims, this.#limits));
  }

  async #readInTurn(task: ThreadTask, whose: string, signal: AbortSignal): Promise<ReadFile> {
    if (this.#isClosed) throw new ReaderClosed();
    const { promise, resolve, reject } = Promise.withResolvers<ReadFile>();
    const waiting: Waiting = { task, signal, resolve };
    const onAbort = () => {
      this.#turns.remove(whose, waiting);
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort);
    this.#turns.add(whose, waiting);
    this.#next();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #next(): void {
    while (this.#reading < this.#limits.workers && !this.#isClosed) {
      const waiting = this.#turns.take();
      if (waiting === undefined) return;
      this.#reading += 1;
      const reading = this.#readTwice(waiting);
      const done = () => {
        this.#reading -= 1;
        this.#next();
      };
      reading.then(done, done);
      waiting.resolve(reading);
    }
  }

  /** In another process where the first one failed, as one does whose machine is short of something, or that someone ends. */
  async #readTwice({ task, signal }: Waiting): Promise<ReadFile> {
    try {
      return await this.#readOnce(task, signal);
    } catch (error) {
      if (!(error instanceof ProcessFailed)) throw error;
      if (error.endedBy === null) await this.#moment(signal);
    }
    try {
      return await this.#readOnce(task, signal);
    } catch (error) {
      if (!(error instanceof ProcessFailed) || error.endedBy === null) throw error;
      throw new Unreadable(endedTwice(error.endedBy), { cause: error });
    }
  }

  async #readOnce(task: ThreadTask, signal: AbortSignal): Promise<ReadFile> {
    signal.throwIfAborted();
    if (this.#isClosed) throw new ReaderClosed();
    const child = this.#takeProcess();
    this.#busy.add(child);
    try {
      return await child.read(task, signal);
    } finally {
      this.#busy.delete(child);
      this.#keep(child);
    }
  }

  /** Cut short by the end of the reader; `signal` is looked at by what comes next. */
  async #moment(signal: AbortSignal): Promise<void> {
    await wait(RETRY_MS, undefined, { signal: AbortSignal.any([signal, this.#closing.signal]) }).catch(() => {});
  }

  #takeProcess(): DocumentProcess {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      clearTimeout(idle.timer);
      if (!idle.child.hasEnded) return idle.child;
    }
    return new DocumentProcess(this.#start);
  }

  #keep(child: DocumentProcess): void {
    if (child.hasEnded) return;
    if (this.#isClosed) {
      void child[Symbol.asyncDispose]();
      return;
    }
    const end = () => {
      this.#idle.splice(this.#idle.indexOf(idle), 1);
      void child[Symbol.asyncDispose]();
    };
    const idle = { child, timer: setTimeout(end, IDLE_MS).unref() };
    this.#idle.push(idle);
  }

  /** What waits and what is being read is refused then, for no fault of its own. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (let waiting = this.#turns.take(); waiting !== undefined; waiting = this.#turns.take()) {
      waiting.resolve(Promise.reject(new ReaderClosed()));
    }
    const children = [...this.#busy, ...this.#idle.map(({ child }) => child)];
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer);
    await Promise.all(children.map((child) => child[Symbol.asyncDispose]()));
  }
}
