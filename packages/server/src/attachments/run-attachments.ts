import { type FileContent, type SourceFile, sniff, Unreadable } from '@runwire/documents';
import { mapConcurrently } from '@runwire/lib/map-concurrently.ts';
import { unlessAborted } from '@runwire/lib/unless-aborted.ts';
import type { StoredAttachment } from '../domain/attachment/attachment.ts';
import { type BlobKey, sha256OfKey } from '../storage/blob-store.ts';
import { BlobUnavailable, getSha256 } from './attachment-blobs.ts';
import { attachmentFailure } from './attachment-failure.ts';
import type { AttachmentDeps, AttachmentRun } from './attachment-tools.ts';
import { fetchAttachment, readAttachment, sourceFile } from './fetch-attachment.ts';
import { type ReadyAttachment, readyFromContent, readyUnreadPdf, shownText } from './prompt-attachment.ts';
import type { ScratchBlobs } from './scratch-blobs.ts';
import { recordWithoutCopy, storeCopy, storeScratch } from './store-copy.ts';

/** How many attachments of one run are fetched or looked up concurrently. */
const CONCURRENCY = 5;

interface Fetching {
  readonly url: string | null;
  readonly rows: readonly StoredAttachment[];
  readonly signal: AbortSignal;
  /** Receives the attachments that are ready. */
  readonly ready: Map<StoredAttachment, ReadyAttachment>;
  /** Rejects if the fetched content must not be used. */
  readonly check?: (content: FileContent) => Promise<void>;
}

/**
 * Makes the attachments of a run ready, its own and those of earlier turns, before its model is called:
 *
 *   an inline file that no run has read ──▶ read ──▶ store ─────────────────────────▶ ready
 *   inline, or a copy exists ──────────────────────────────────────────────────────▶ ready
 *   a copy of a PDF, and the model accepts no PDFs ──▶ its text, stored as a copy ──▶ ready
 *                                                 └──▶ no text, in an earlier turn ─▶ ready, shown as unread
 *   not fetched, no copy, or the copy is lost ──▶ fetch ──▶ read ──▶ store ─────────▶ ready
 *
 * If the integration keeps no copies, the fetched bytes are scratch blobs that are deleted when the run ends. A run that
 * stops does not wait for the blob store.
 */
export class RunAttachments {
  readonly #deps: AttachmentDeps;
  readonly #run: AttachmentRun;
  readonly #scratch: ScratchBlobs;

  constructor(deps: AttachmentDeps, run: AttachmentRun, scratch: ScratchBlobs) {
    this.#deps = deps;
    this.#run = run;
    this.#scratch = scratch;
  }

  /** Keeps the order. Rejects with a `RunFailure` that names the attachment that is unavailable. */
  async ready(rows: readonly StoredAttachment[]): Promise<ReadyAttachment[]> {
    if (rows.length === 0) return [];
    const ready = new Map<StoredAttachment, ReadyAttachment>();
    await mapConcurrently(CONCURRENCY, rows, this.#run.signal, async (row, signal) => {
      const copy = await this.#namingFailures(row, () => this.#fromCopy(row, signal));
      if (copy !== null) ready.set(row, copy);
    });
    const byUrl = Map.groupBy(
      rows.filter((row) => !ready.has(row)),
      ({ url }) => url,
    );
    await mapConcurrently(CONCURRENCY, [...byUrl], this.#run.signal, ([url, group], signal) =>
      this.#namingFailures(group[0], () => this.#fetch({ url, rows: group, signal, ready })),
    );
    return rows.map((row) => {
      const one = ready.get(row);
      if (one === undefined) throw new Error('An attachment was not made ready.');
      return one;
    });
  }

  /** Reads the bytes to send. If the copy was damaged since, fetches it again and checks that the bytes are the same. */
  async read(ready: ReadyAttachment): Promise<Uint8Array> {
    const { signal } = this.#run;
    return await this.#namingFailures(ready, async () => {
      try {
        return await this.#bytes(ready, signal);
      } catch (error) {
        if (!isLost(error) || ready.url === null || ready.blob_key === null) throw error;
        const sha256 = sha256OfKey(ready.blob_key);
        const fetched = new Map<StoredAttachment, ReadyAttachment>();
        const check = async ({ bytes }: FileContent) => {
          if ((await getSha256(bytes)) !== sha256) throw error;
        };
        await this.#fetch({ url: ready.url, rows: [ready], signal, ready: fetched, check });
        return await this.#bytes(fetched.get(ready) ?? ready, signal);
      }
    });
  }

  #bytes({ blob_key: blobKey, size_bytes: sizeBytes }: ReadyAttachment, signal: AbortSignal): Promise<Uint8Array> {
    if (blobKey === null) throw new Error('An attachment that is ready has no blob.');
    return unlessAborted(signal, this.#deps.attachments.blobs.read({ blobKey, sizeBytes }));
  }

  /** Returns null if the attachment must be fetched. */
  async #fromCopy(row: StoredAttachment, signal: AbortSignal): Promise<ReadyAttachment | null> {
    const { form, media_type, size_bytes, blob_key: blobKey } = row;
    if (form === null && blobKey !== null && size_bytes !== null) return this.#readInline(row, blobKey, signal);
    if (form === null || media_type === null || size_bytes === null || blobKey === null) return null;
    const copy: ReadyAttachment = { ...row, form, media_type, size_bytes, text: null };
    try {
      if (form === 'pdf' && !this.#run.takesPdf) return await this.#textOfPdf(copy, signal);
      if (form === 'text') {
        return { ...copy, text: shownText(row, media_type, blobKey, await this.#bytes(copy, signal)) };
      }
    } catch (error) {
      // What was sent inline cannot be fetched again.
      if (!isLost(error) || row.url === null) throw error;
      return null;
    }
    if (row.url === null) return copy;
    // This look costs one HEAD request on S3. Without it, a lost copy whose URL returns other bytes by now would fail this
    // run and every later one, because that shows only when the copy is sent. Now the new bytes are recorded instead.
    // If the look itself fails, the copy may still be readable when it is sent.
    const looked = this.#deps.attachments.blobs.has({ blobKey, sizeBytes: size_bytes }).catch(() => true);
    return (await unlessAborted(signal, looked)) ? copy : null;
  }

  /** Reads a file that the request contained. What is sent replaces its bytes, also if the integration keeps no copies. */
  async #readInline(row: StoredAttachment, blobKey: BlobKey, signal: AbortSignal): Promise<ReadyAttachment> {
    const sizeBytes = row.size_bytes ?? 0;
    using _ = await this.#deps.attachments.budget.reserve(this.#run.ownerId, sizeBytes, signal);
    const read = this.#deps.attachments.blobs.read({ blobKey, sizeBytes });
    const source = sourceFile(row, new Uint8Array(await unlessAborted(signal, read)), row.media_type);
    const content = await readAttachment(this.#deps, this.#run, row, source, signal);
    return readyFromContent(row, content, await storeCopy(this.#deps, this.#run, [row], content, signal));
  }

  async #textOfPdf(copy: ReadyAttachment, signal: AbortSignal): Promise<ReadyAttachment> {
    using _ = await this.#deps.attachments.budget.reserve(this.#run.ownerId, copy.size_bytes, signal);
    const bytes = new Uint8Array(await this.#bytes(copy, signal));
    const content = await this.#readSource(copy, sourceFile(copy, bytes, copy.media_type), signal);
    if (content === null) return readyUnreadPdf(copy);
    // If the integration keeps no copies any more, the old copy stays: another run may send it unchanged.
    const blobKey = this.#run.keepAttachments
      ? await storeCopy(this.#deps, this.#run, [copy], content, signal)
      : await storeScratch(this.#run, this.#scratch, content, signal);
    return readyFromContent(copy, content, blobKey);
  }

  /** Returns null for a PDF of an earlier turn that this model does not accept and that contains no text. */
  async #readSource(row: StoredAttachment, source: SourceFile, signal: AbortSignal): Promise<FileContent | null> {
    const { runId, takesPdf } = this.#run;
    const wasSentUnchanged = row.run_id !== runId && row.form === 'pdf' && !takesPdf;
    // The URL may return another file by now. Only a PDF may be shown as unread.
    const mayStayUnread = wasSentUnchanged && sniff(source.bytes, { html: false, text: false }) === 'pdf';
    try {
      return await readAttachment(this.#deps, this.#run, row, source, signal);
    } catch (error) {
      if (mayStayUnread && error instanceof Unreadable) return null;
      throw error;
    }
  }

  async #fetch({ url, rows, signal, ready, check }: Fetching): Promise<void> {
    if (url === null) throw new Error('An attachment has neither bytes nor a URL.');
    const use = (group: readonly [StoredAttachment, ...StoredAttachment[]], source: SourceFile) =>
      this.#namingFailures(group[0], async () => {
        const content = await this.#readSource(group[0], source, signal);
        if (content === null) {
          for (const row of group) ready.set(row, readyUnreadPdf(row));
          return;
        }
        await check?.(content);
        const blobKey = await this.#store(group, content, signal);
        for (const row of group) ready.set(row, readyFromContent(row, content, blobKey));
      });
    await fetchAttachment(this.#deps, this.#run, { url, rows, signal, use });
  }

  async #store(rows: readonly StoredAttachment[], content: FileContent, signal: AbortSignal): Promise<BlobKey> {
    if (this.#run.keepAttachments) return await storeCopy(this.#deps, this.#run, rows, content, signal);
    const blobKey = await storeScratch(this.#run, this.#scratch, content, signal);
    const changed = rows.filter((row) => !isRecorded(row, content));
    if (changed.length > 0) await recordWithoutCopy(this.#deps, this.#run, changed, content, signal);
    return blobKey;
  }

  async #namingFailures<T>(row: StoredAttachment | undefined, job: () => Promise<T>): Promise<T> {
    try {
      return await job();
    } catch (error) {
      const failure = row === undefined ? null : attachmentFailure(error, row, this.#run.runId);
      throw failure ?? error;
    }
  }
}

/** True if the copy is missing or damaged, false if the blob store failed to answer. */
const isLost = (error: unknown): boolean => error instanceof BlobUnavailable && !error.mayRetry;

/** True if the row already has these columns and records that no copy exists. */
function isRecorded(row: StoredAttachment, { form, mediaType, pages, bytes }: FileContent): boolean {
  if (row.blob_key !== null || row.form !== form || row.media_type !== mediaType) return false;
  return row.pages === pages && row.size_bytes === bytes.length;
}
