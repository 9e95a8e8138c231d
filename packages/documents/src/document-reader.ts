import { addAbortListener } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { listClaims } from './claimed-type.ts';
import type { DocumentLimits } from './document-limits.ts';
import { DocumentProcess, ReaderClosed } from './document-process.ts';
import type { ThreadTask } from './document-worker.ts';
import { asText, type FileContent, type SourceFile } from './file-content.ts';
import { imageType } from './image-type.ts';
import { ProcessFailed } from './process-failed.ts';
import { readText } from './read-text.ts';
import { sniff } from './sniff.ts';
import { type StartChild, startDocumentChild } from './start-document-child.ts';
import { Unreadable } from './unreadable.ts';

/** Limits how many files are read concurrently. Disposing what `reserve` returns frees the slot. */
export interface Slots {
  reserve(ownerId: string, amount: number, signal: AbortSignal): Promise<Disposable>;
}

export interface ReadOptions {
  /** True if the model accepts PDFs. A PDF must open and have at most `nativePdfPages`. */
  readonly pdf: boolean;
  /** The owner whose share of the slots is used. */
  readonly ownerId: string;
}

/** Decoding this many bytes takes 2 ms, less than a request to another process; 64 KiB take 8 ms. */
const READ_HERE_BYTES = 16 * 1024;
const IDLE_MS = 30_000;
/** The wait before a new process is started after a failed start. */
const RETRY_MS = 1000;

const endedTwice = (by: string) =>
  `could not be read: the process that reads documents ended twice (${by}), which happens if the server runs out of memory; attach the file again to a new message, or attach a shorter file`;

/**
 * Converts a file's bytes for a model, in child processes that start on demand. `slots` decides how many files are
 * read concurrently and which owner is next.
 */
export class DocumentReader implements AsyncDisposable {
  readonly #limits: DocumentLimits;
  readonly #slots: Slots;
  readonly #idle: { readonly child: DocumentProcess; readonly timer: NodeJS.Timeout }[] = [];
  readonly #busy = new Set<DocumentProcess>();
  readonly #closing = new AbortController();
  readonly #start: StartChild;

  constructor(limits: DocumentLimits, slots: Slots, start: StartChild = startDocumentChild) {
    this.#limits = limits;
    this.#slots = slots;
    this.#start = start;
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Rejects with `Unreadable`, the signal's reason, or `ProcessFailed` if the machine cannot run a child process. */
  async read(source: SourceFile, { pdf, ownerId }: ReadOptions, signal: AbortSignal): Promise<FileContent> {
    signal.throwIfAborted();
    if (source.bytes.length === 0) throw new Unreadable('is empty');
    const image = imageType(source.bytes);
    if (image !== null) return { form: 'image', mediaType: image, pages: null, bytes: source.bytes };
    if (source.kind === 'input_image')
      throw new Unreadable('is not a PNG, JPEG, GIF or WebP image, judged by its content');
    return this.#readSmallText(source) ?? this.#readInTurn({ source, limits: this.#limits, pdf }, ownerId, signal);
  }

  #readSmallText({ bytes, contentType, name }: SourceFile): FileContent | null {
    if (bytes.length > READ_HERE_BYTES) return null;
    const claims = listClaims(contentType, name);
    if (sniff(bytes, claims) !== 'text') return null;
    return asText(claims.textType, readText(bytes, claims, this.#limits));
  }

  async #readInTurn(task: ThreadTask, ownerId: string, signal: AbortSignal): Promise<FileContent> {
    const slot = await this.#slots.reserve(ownerId, 1, AbortSignal.any([signal, this.#closing.signal]));
    // The slot stays reserved until the process has stopped. A caller that aborts does not wait for that.
    const reading = this.#readTwice(task, signal).finally(() => slot[Symbol.dispose]());
    const { promise, resolve, reject } = Promise.withResolvers<FileContent>();
    using _ = addAbortListener(signal, () => reject(signal.reason));
    reading.then(resolve, reject);
    return await promise;
  }

  /** Tries a second process if the first one failed: the machine was short of memory, or an operator killed it. */
  async #readTwice(task: ThreadTask, signal: AbortSignal): Promise<FileContent> {
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

  async #readOnce(task: ThreadTask, signal: AbortSignal): Promise<FileContent> {
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

  /** Ends early if the reader is closed. The next step checks `signal`. */
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

  /** Files that wait or are being read are refused with `ReaderClosed`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new ReaderClosed());
    const children = [...this.#busy, ...this.#idle.map(({ child }) => child)];
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer);
    await Promise.all(children.map((child) => child[Symbol.asyncDispose]()));
  }
}
