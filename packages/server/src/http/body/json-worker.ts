import { Worker } from 'node:worker_threads';
import { JsonRefused, type StrictJsonLimits } from '@runwire/lib/strict-json.ts';
import type { ExtractedFiles } from './inline-files.ts';
import type { Extraction } from './take-out.ts';

export interface JsonTask {
  readonly id: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly limits: StrictJsonLimits;
  readonly extraction: Extraction | null;
}

export interface ParsedBody {
  readonly value: unknown;
  /** The body's inline images and files. */
  readonly files: ExtractedFiles;
}

export type JsonResult = ({ readonly id: number } & ParsedBody) | { readonly id: number; readonly refused: string };

interface Waiting {
  readonly resolve: (body: ParsedBody) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs `parseStrictJson` on one other thread, which is started when it is first needed. */
export class JsonWorker implements AsyncDisposable {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #nextId = 0;

  /** Transfers the bytes to the thread instead of copying them; the caller cannot use them any more. */
  parse(
    bytes: Uint8Array<ArrayBuffer>,
    limits: StrictJsonLimits,
    extraction: Extraction | null = null,
  ): Promise<ParsedBody> {
    const worker = this.#worker ?? this.#start();
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, bytes, limits, extraction } satisfies JsonTask, [bytes.buffer]);
    });
  }

  #start(): Worker {
    const file = import.meta.url.endsWith('.ts') ? './strict-json-thread.ts' : './strict-json-thread.js';
    const worker = new Worker(new URL(file, import.meta.url));
    worker.unref();
    worker.on('message', (result: JsonResult) => {
      const waiting = this.#waiting.get(result.id);
      this.#waiting.delete(result.id);
      if ('refused' in result) waiting?.reject(new JsonRefused(result.refused));
      else waiting?.resolve({ value: result.value, files: result.files });
    });
    const gone = (error: unknown) => {
      if (this.#worker === worker) this.#worker = null;
      const all = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const { reject } of all) reject(error);
    };
    worker.on('error', gone);
    worker.on('exit', () => gone(new Error('The thread that parses large bodies ended.')));
    this.#worker = worker;
    return worker;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }
}
