import { type DocumentReader, Unreadable } from '@runwire/documents';
import type { DocumentText } from '../agent/files-port.ts';
import { lastSegment } from '../domain/mount-path.ts';
import { type FileTexts, textOfBytes } from '../files/file-texts.ts';
import type { Files, StoredFile } from '../files/files.ts';
import type { FairBudget } from '../lib/fair-budget.ts';
import { LruCache } from '../lib/lru-cache.ts';
import { unlessAborted } from '../lib/unless-aborted.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface DocumentTextsDeps {
  readonly files: Pick<Files, 'open'>;
  readonly texts: FileTexts;
  /** The reader of attachments, with its limits and its slots. */
  readonly reader: Pick<DocumentReader, 'read'>;
  /** Limits the bytes of all documents and attachments that this node has in memory. */
  readonly budget: FairBudget;
  /** The largest document that is converted. */
  readonly maxBytes: number;
  readonly logger: Logger;
}

/** The integration of a file, and the owner whose share of the slots is used. */
export interface FileOwner {
  readonly integrationId: string;
  readonly ownerId: string;
}

interface Conversion {
  readonly outcome: Promise<DocumentText>;
  readonly stop: AbortController;
  readers: number;
}

const REMEMBERED_FAILURES = 1000;
const FAILURE_MS = 5 * 60_000;

/**
 * The text of documents, made once for each version of a file: readers on this node share a conversion, and the text is
 * stored for all later readers.
 *
 * If a document cannot be converted, only this node remembers it, for some minutes. So a model that asks again does not pay
 * the time limit again. It is not stored: the cause can be a busy machine, a setting, or a defect that a later version
 * does not have, and a stored failure would last as long as the file.
 */
export class DocumentTexts {
  readonly #deps: DocumentTextsDeps;
  /** By the blob of the document. */
  readonly #conversions = new Map<string, Conversion>();
  readonly #failures = new LruCache<string, { readonly problem: string; readonly until: number }>(REMEMBERED_FAILURES);

  constructor(deps: DocumentTextsDeps) {
    this.#deps = deps;
  }

  /** Resolves to the text, or to the reason why there is none. Rejects with the reason of the signal. */
  async read(owner: FileOwner, file: StoredFile, signal: AbortSignal): Promise<DocumentText> {
    const { texts, maxBytes } = this.#deps;
    const stored = await texts.read(file);
    if (stored !== null) return { text: stored, readBytes: Buffer.byteLength(stored) };
    if (file.size > maxBytes) {
      const problem = `has ${file.size} bytes, and only documents of at most ${maxBytes} bytes are converted to text`;
      return { problem, readBytes: 0 };
    }
    const failure = this.#failures.get(file.blobKey);
    if (failure !== undefined && performance.now() < failure.until) {
      return { problem: failure.problem, readBytes: 0 };
    }
    return await this.#share(file.blobKey, signal, (stop) => this.#convert(owner, file, stop));
  }

  /** Waits for a conversion of this blob, and begins it if there is none. It stops when no reader waits any more. */
  async #share(
    blobKey: string,
    signal: AbortSignal,
    convert: (stop: AbortSignal) => Promise<DocumentText>,
  ): Promise<DocumentText> {
    const conversion = this.#conversions.get(blobKey) ?? this.#begin(blobKey, convert);
    conversion.readers += 1;
    try {
      return await unlessAborted(signal, conversion.outcome);
    } finally {
      conversion.readers -= 1;
      if (conversion.readers === 0) {
        conversion.stop.abort();
        if (this.#conversions.get(blobKey) === conversion) this.#conversions.delete(blobKey);
      }
    }
  }

  #begin(blobKey: string, convert: (stop: AbortSignal) => Promise<DocumentText>): Conversion {
    const stop = new AbortController();
    const outcome = convert(stop.signal);
    // After an abort no reader waits for it.
    outcome.catch(() => {});
    const conversion = { outcome, stop, readers: 0 };
    this.#conversions.set(blobKey, conversion);
    return conversion;
  }

  async #convert(owner: FileOwner, file: StoredFile, signal: AbortSignal): Promise<DocumentText> {
    const { reader, budget } = this.#deps;
    const { ownerId } = owner;
    using _ = await budget.reserve(ownerId, file.size, signal);
    const source = {
      bytes: await this.#bytesOf(file, signal),
      contentType: file.contentType,
      name: lastSegment(file.path),
      kind: 'input_file',
    } as const;
    try {
      const { bytes, form } = await reader.read(source, { pdf: false, ownerId }, signal);
      if (form !== 'text') throw new Unreadable('contains no text');
      await this.#store(owner, file, bytes);
      return { text: textOfBytes(bytes), readBytes: file.size };
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.#failures.set(file.blobKey, { problem: error.message, until: performance.now() + FAILURE_MS });
      return { problem: error.message, readBytes: file.size };
    }
  }

  async #bytesOf(file: StoredFile, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(file.size);
    await using opened = await this.#deps.files.open(file);
    let at = 0;
    for await (const piece of opened.bytes) {
      signal.throwIfAborted();
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }

  /** Without the stored text the next reader converts the document again, so a failure stops no reader. */
  async #store({ integrationId }: FileOwner, file: StoredFile, bytes: Uint8Array): Promise<void> {
    try {
      await this.#deps.texts.store(integrationId, file, bytes);
    } catch (error) {
      this.#deps.logger.warn({ err: error, integrationId }, 'the text of a document could not be stored');
    }
  }
}
