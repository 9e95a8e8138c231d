import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { fieldsTooLarge, MAX_FORM_BYTES, type ReceivedForm } from '../../files/post-policy/form-fields.ts';
import { S3Error } from '../../files/post-policy/s3-error.ts';

/** As large as the largest file with its form. At most so many bytes after the file, or of a refused form, are discarded. */
export const MAX_WASTE_BYTES = 24 * 1024 * 1024;
const NEWLINE = 10;

export interface FormTimes {
  /** How long a sender may send nothing. */
  readonly uploadIdleMs: number;
  /** How long one upload may take. */
  readonly uploadMs: number;
}

/**
 * Parses a form while it arrives, field by field and then the file, as fast as the file is read. So at most a few chunks
 * are in memory.
 *
 *   head ──▶ file ──▶ rest ──▶ done
 *     └────────┴────────┴────▶ failed: too large, too slow, torn off, not multipart
 */
export class MultipartForm implements Disposable {
  readonly #request: IncomingMessage;
  readonly #parser: BusboyInstance;
  readonly #fields: [string, string][] = [];
  readonly #head = Promise.withResolvers<ReceivedForm>();
  readonly #whole = Promise.withResolvers<void>();
  readonly #times: FormTimes;
  readonly #deadline: NodeJS.Timeout;
  #idle: NodeJS.Timeout;
  #expiry: NodeJS.Timeout | undefined;
  #file: Readable | null = null;
  #isFileWhole = false;
  #headBytes = 0;
  #restBytes = 0;
  #hasCome = false;
  #isOver = false;

  constructor(request: IncomingMessage, times: FormTimes) {
    this.#request = request;
    this.#times = times;
    this.#parser = createParser(request);
    this.#head.promise.catch(() => {});
    this.#whole.promise.catch(() => {});
    this.#parser.on('field', this.#onField);
    this.#parser.on('file', this.#onFile);
    this.#parser.on('error', () => this.#fail(malformed()));
    this.#parser.on('finish', this.#onParsed);
    this.#idle = setTimeout(this.#onSlow, times.uploadIdleMs);
    this.#deadline = setTimeout(this.#onSlow, times.uploadMs);
    request.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onGone).on('close', this.#onGone);
  }

  /** Resolves when the file begins, or at the end if there is no file. */
  get head(): Promise<ReceivedForm> {
    return this.#head.promise;
  }

  /** Fails with this error if the complete form has not arrived by then. */
  endAt(moment: number, error: S3Error): void {
    if (this.#isOver) return;
    const leftMs = moment - Date.now();
    // A later deadline never matters, because the upload has its own limit, and a timer cannot wait longer than 24 days.
    if (leftMs < this.#times.uploadMs) this.#expiry = setTimeout(() => this.#fail(error), leftMs);
  }

  /** Yields the file's bytes. Ends after the complete, well-formed form has arrived; otherwise it throws. */
  async *bytes(): AsyncGenerator<Uint8Array> {
    if (this.#file !== null) {
      for await (const chunk of this.#file) yield chunk as Uint8Array;
    }
    await this.#whole.promise;
  }

  /** Stops reading the form. The caller of this function handles further bytes of the connection. */
  [Symbol.dispose](): void {
    this.#fail(malformed());
    this.#file?.destroy();
  }

  readonly #onField = (name: string | undefined, value: string): void => {
    // S3 ignores everything after the file.
    if (this.#file !== null) return;
    if (name === undefined) this.#fail(malformed('A part of your POST request has no name.'));
    else this.#fields.push([name, value]);
  };

  readonly #onFile = (_name: string, file: Readable, filename: string | undefined): void => {
    if (this.#file !== null) {
      file.resume();
      return;
    }
    this.#file = file;
    file.on('error', () => this.#fail(malformed()));
    file.once('end', () => {
      this.#isFileWhole = true;
      this.#awaitParsed();
    });
    this.#head.resolve({ fields: this.#fields, hasFile: true, filename: filename ?? null });
  };

  readonly #onData = (chunk: Buffer): void => {
    clearTimeout(this.#idle);
    // Continues only after the chunk was consumed: the connection is read as fast as the file is written.
    this.#request.pause();
    this.#feed(chunk).then(
      () => {
        if (this.#isOver) return;
        this.#idle = setTimeout(this.#onSlow, this.#times.uploadIdleMs);
        this.#request.resume();
      },
      (error: Error) => this.#fail(error),
    );
  };

  async #feed(chunk: Buffer): Promise<void> {
    let start = 0;
    // Before the file, the form is parsed line by line. The file begins after the end of a line, so the bytes before it
    // can be counted.
    while (start < chunk.length && this.#file === null && !this.#isOver) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline === -1 ? chunk.length : newline + 1;
      const before = this.#headBytes;
      if (before > MAX_FORM_BYTES) throw fieldsTooLarge();
      this.#headBytes += end - start;
      // The parser holds back bytes that may begin a boundary, so it sees the file only after the first line of the
      // file has arrived.
      await this.#write(chunk.subarray(start, end));
      start = end;
    }
    if (start === chunk.length || this.#isOver) return;
    if (this.#isFileWhole) {
      this.#restBytes += chunk.length - start;
      if (this.#restBytes > MAX_WASTE_BYTES) throw malformed('Too much follows the file of your POST request.');
    }
    await this.#write(start === 0 ? chunk : chunk.subarray(start));
  }

  #write(piece: Buffer): Promise<void> {
    return new Promise((resolve) => this.#parser.write(piece, () => resolve()));
  }

  readonly #onEnd = (): void => {
    this.#hasCome = true;
    clearTimeout(this.#idle);
    this.#parser.end();
    this.#awaitParsed();
  };

  /**
   * If a part's head has no end, the parser reports neither success nor an error: it waits for a reader of that
   * part. After the parser has consumed all bytes, it emits its result before the next turn of the event loop.
   */
  #awaitParsed(): void {
    if (!this.#hasCome || (this.#file !== null && !this.#isFileWhole)) return;
    setImmediate(() => setImmediate(() => this.#fail(malformed())));
  }

  readonly #onParsed = (): void => {
    if (this.#isOver) return;
    const isTooLarge = this.#file === null && this.#headBytes > MAX_FORM_BYTES;
    if (isTooLarge) {
      this.#fail(fieldsTooLarge());
      return;
    }
    this.#head.resolve({ fields: this.#fields, hasFile: false, filename: null });
    this.#end();
    this.#whole.resolve();
  };

  readonly #onSlow = (): void => this.#fail(new S3Error('RequestTimeout'));

  readonly #onGone = (): void => {
    // Bytes that arrived but were not consumed are lost with the connection.
    if (!this.#hasCome) this.#fail(new S3Error('IncompleteBody'));
  };

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#end();
    this.#head.reject(error);
    this.#whole.reject(error);
    this.#file?.destroy(error);
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#deadline);
    clearTimeout(this.#expiry);
    const request = this.#request;
    request.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onGone).off('close', this.#onGone);
    // If the caller leaves while the rest is discarded, that is not an error.
    request.on('error', ignore);
  }
}

const ignore = () => {};

const malformed = (message?: string) => new S3Error('MalformedPOSTRequest', message);

function createParser({ headers }: IncomingMessage): BusboyInstance {
  const contentType = headers['content-type'] ?? '';
  if (!/^multipart\/form-data *(;|$)/i.test(contentType)) {
    const Condition = 'Bucket POST must be of the enclosure-type multipart/form-data';
    throw new S3Error('PreconditionFailed', undefined, { Condition });
  }
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': contentType },
      // The name decides, because some senders give every field a filename.
      isPartAFile: (name) => name?.toLowerCase() === 'file',
      limits: { fieldSize: MAX_FORM_BYTES, headerSize: MAX_FORM_BYTES },
    });
  } catch {
    // The header names no boundary.
    throw malformed();
  }
}
