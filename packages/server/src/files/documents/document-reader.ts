import { imageType } from '../../lib/image-type.ts';
import { claimsOf } from './claimed-type.ts';
import type { DocumentLimits } from './document-limits.ts';
import { DocumentProcess, ReaderClosed } from './document-process.ts';
import type { ThreadTask } from './document-worker.ts';

import { asText, type Given, type ReadFile } from './read-file.ts';
import { readText } from './read-text.ts';
import { sniff } from './sniff.ts';
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

/** Makes of the bytes of a file what a model is sent, in processes of their own, which start when they are needed. */
export class DocumentReader implements AsyncDisposable {
  readonly #limits: DocumentLimits;
  readonly #turns = new Turns<Waiting>();
  readonly #idle: { readonly child: DocumentProcess; readonly timer: NodeJS.Timeout }[] = [];
  readonly #busy = new Set<DocumentProcess>();
  #closed = false;

  constructor(limits: DocumentLimits) {
    this.#limits = limits;
  }

  /** Rejects with `Unreadable`, or the reason of the signal. */
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
    if (sniff(bytes, claims.html) !== 'text') return null;
    return asText(claims.textType, readText(bytes, claims, this.#limits));
  }

  async #readInTurn(task: ThreadTask, whose: string, signal: AbortSignal): Promise<ReadFile> {
    if (this.#closed) throw new ReaderClosed();
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
    while (this.#busy.size < this.#limits.workers && !this.#closed) {
      const waiting = this.#turns.take();
      if (waiting === undefined) return;
      const child = this.#takeProcess();
      this.#busy.add(child);
      const reading = child.read(waiting.task, waiting.signal);
      const done = () => {
        this.#busy.delete(child);
        this.#keep(child);
        this.#next();
      };
      reading.then(done, done);
      waiting.resolve(reading);
    }
  }

  #takeProcess(): DocumentProcess {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      clearTimeout(idle.timer);
      if (!idle.child.hasEnded) return idle.child;
    }
    return new DocumentProcess();
  }

  #keep(child: DocumentProcess): void {
    if (child.hasEnded) return;
    if (this.#closed) {
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
    this.#closed = true;
    for (let waiting = this.#turns.take(); waiting !== undefined; waiting = this.#turns.take()) {
      waiting.resolve(Promise.reject(new ReaderClosed()));
    }
    const children = [...this.#busy, ...this.#idle.map(({ child }) => child)];
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer);
    await Promise.all(children.map((child) => child[Symbol.asyncDispose]()));
  }
}
