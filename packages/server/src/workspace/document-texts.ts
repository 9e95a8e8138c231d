import { type DocumentReader, Unreadable } from '@runwire/documents';
import type { FairBudget } from '@runwire/lib/fair-budget.ts';
import { LruCache } from '@runwire/lib/lru-cache.ts';
import { unlessAborted } from '@runwire/lib/unless-aborted.ts';
import type { DocumentText } from '../agent/files-port.ts';
import { lastSegment } from '../domain/file/mount-path.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { type FileTexts, textOfBytes } from '../files/file-texts.ts';
import type { Files, StoredFile } from '../files/files.ts';
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

/** A file's integration, and the owner whose share of the slots is used. */
export interface FileOwner {
  readonly integrationId: IntegrationId;
  readonly ownerId: string;
}

/** A document that is not a file of an integration. */
export interface LocalDocument {
  /** Another version has another key. */
  readonly key: string;
  readonly path: string;
  readonly size: number;
  readonly contentType: string;
  readonly bytes: () => AsyncIterable<Uint8Array>;
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
  /** By the document's blob. */
  readonly #conversions = new Map<string, Conversion>();
  readonly #failures = new LruCache<string, { readonly problem: string; readonly until: number }>(REMEMBERED_FAILURES);

  constructor(deps: DocumentTextsDeps) {
    this.#deps = deps;
  }

  /** Resolves to the text, or to the reason why there is none. Rejects with the signal's reason. */
  async read(owner: FileOwner, file: StoredFile, signal: AbortSignal): Promise<DocumentText> {
    const stored = await this.#deps.texts.read(file);
    if (stored !== null) return { text: stored, readBytes: Buffer.byteLength(stored) };
    const problem = this.#knownProblem(file.blobKey, file.size);
    if (problem !== null) return { problem, readBytes: 0 };
    return await this.#share(file.blobKey, signal, (stop) => this.#convertFile(owner, file, stop));
  }

  /** Does the same for another document. Its text is not stored. */
  async convertOnce(ownerId: string, document: LocalDocument, signal: AbortSignal): Promise<DocumentText> {
    const problem = this.#knownProblem(document.key, document.size);
    if (problem !== null) return { problem, readBytes: 0 };
    return await this.#share(document.key, signal, async (stop) => {
      const { outcome } = await this.#convert(ownerId, document, stop);
      return outcome;
    });
  }

  #knownProblem(key: string, size: number): string | null {
    const { maxBytes } = this.#deps;
    if (size > maxBytes) {
      return `has ${size} bytes, and only documents of at most ${maxBytes} bytes are converted to text`;
    }
    const failure = this.#failures.get(key);
    return failure !== undefined && performance.now() < failure.until ? failure.problem : null;
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

  async #convertFile(owner: FileOwner, file: StoredFile, signal: AbortSignal): Promise<DocumentText> {
    const document = { ...file, key: file.blobKey, bytes: () => this.#toBytes(file) };
    const { outcome, bytes } = await this.#convert(owner.ownerId, document, signal);
    if (bytes !== null) await this.#store(owner, file, bytes);
    return outcome;
  }

  /** Open only while it is read: a conversion can take long. */
  async *#toBytes(file: StoredFile): AsyncGenerator<Uint8Array, void> {
    await using opened = await this.#deps.files.open(file);
    yield* opened.bytes;
  }

  async #convert(ownerId: string, document: LocalDocument, signal: AbortSignal): Promise<ConversionResult> {
    const { reader, budget } = this.#deps;
    const { key, path, size, contentType } = document;
    using _ = await budget.reserve(ownerId, size, signal);
    const source = {
      bytes: await toBytes(document, signal),
      contentType,
      name: lastSegment(path),
      kind: 'input_file',
    } as const;
    try {
      const { bytes, form } = await reader.read(source, { pdf: false, ownerId }, signal);
      if (form !== 'text') throw new Unreadable('contains no text');
      return { outcome: { text: textOfBytes(bytes), readBytes: size }, bytes };
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.#failures.set(key, { problem: error.message, until: performance.now() + FAILURE_MS });
      return { outcome: { problem: error.message, readBytes: size }, bytes: null };
    }
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

interface ConversionResult {
  readonly outcome: DocumentText;
  /** The text as bytes; null if there is none. */
  readonly bytes: Uint8Array | null;
}

async function toBytes({ size, bytes: pieces }: LocalDocument, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for await (const piece of pieces()) {
    signal.throwIfAborted();
    bytes.set(piece.subarray(0, size - at), at);
    at += piece.length;
    if (at >= size) break;
  }
  return bytes;
}
