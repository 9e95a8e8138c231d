import type { Given } from '@runwire/documents';
import { sniff, Unreadable } from '@runwire/documents';
import { BlobUnavailable } from '../attachments/attachment-blobs.ts';
import type { Attachment, AttachmentForm } from '../domain/attachment.ts';
import { together } from '../lib/together.ts';
import { unlessAborted } from '../lib/unless-aborted.ts';
import { type BlobKey, sha256OfKey } from '../storage/blob-store.ts';
import type { Aside } from './aside.ts';
import { attachmentFailure } from './attachment-failure.ts';
import type { AttachmentTools, SentFile } from './attachment-tools.ts';
import { type FetchDeps, fetchAttachment, givenAs, readAttachment } from './fetch-attachment.ts';
import { type KeepDeps, keepCopy, putAside, recordWithoutCopy } from './keep-attachment.ts';
import type { AdmittedRun } from './port.ts';
import type { StopHandle } from './stop-handle.ts';

export interface ReadyDeps extends FetchDeps, KeepDeps {
  readonly attachments: AttachmentTools;
}

/** An attachment whose bytes lie where its key says, at least as long as the run. */
export interface ReadyAttachment extends Attachment {
  readonly form: AttachmentForm;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly blobKey: BlobKey;
  /** What a file that is sent as text says. */
  readonly text: string | null;
}

/** A PDF that an earlier turn was sent as it is: this run's model takes none, and no text could be read from it. */
export interface UnreadPdf extends Attachment {
  readonly mediaType: 'application/pdf';
  readonly isUnread: true;
}

type Readied = ReadyAttachment | UnreadPdf;

/** Of one run. */
const AT_ONCE = 5;

/**
 * What a run sends of its own attachments and of earlier ones, before its model is asked:
 *
 *   inline, or a copy is there ──────────────────────────────────────────────▶ ready
 *   a copy of a PDF, for a model that takes none ──▶ its text, kept beside ──▶ ready
 *                                               └──▶ none: of an earlier turn, it is shown as unread
 *   not fetched, no copy, or the copy is lost ──▶ fetched ──▶ read ──▶ kept ─▶ ready
 *
 * Without copies what was fetched is put aside, and gone when the run is. A run that stops waits for no blob.
 */
export class RunAttachments {
  readonly #deps: ReadyDeps;
  readonly #run: AdmittedRun;
  readonly #takesPdf: boolean;
  readonly #stop: StopHandle;
  readonly #aside: Aside;

  constructor(deps: ReadyDeps, run: AdmittedRun, takesPdf: boolean, stop: StopHandle, aside: Aside) {
    this.#deps = deps;
    this.#run = run;
    this.#takesPdf = takesPdf;
    this.#stop = stop;
    this.#aside = aside;
  }

  /** In the same order. Rejects with a `RunFailure` that names the one which cannot be had. */
  async ready(rows: readonly Attachment[]): Promise<Readied[]> {
    if (rows.length === 0) return [];
    const ready = new Map<Attachment, Readied>();
    const { signal } = this.#stop;
    await together(AT_ONCE, rows, signal, async (row, either) => {
      const there = await this.#failing(row, () => this.#copyOf(row, either));
      if (there !== null) ready.set(row, there);
    });
    const byUrl = Map.groupBy(
      rows.filter((row) => !ready.has(row)),
      ({ url }) => url,
    );
    await together(AT_ONCE, [...byUrl], signal, ([url, alike], either) =>
      this.#failing(alike[0], () => this.#fetch(url, alike, either, ready)),
    );
    return rows.map((row) => {
      const one = ready.get(row);
      if (one === undefined) throw new Error('An attachment was not made ready.');
      return one;
    });
  }

  /** The bytes as they are sent. A copy that was damaged since is fetched again, where the same bytes still come. */
  async read(ready: ReadyAttachment): Promise<Uint8Array> {
    return await this.#failing(ready, async () => {
      try {
        return await this.#bytesOf(ready, this.#stop.signal);
      } catch (error) {
        if (!isLost(error) || ready.url === null) throw error;
        const again = new Map<Attachment, Readied>();
        await this.#fetch(ready.url, [ready], this.#stop.signal, again, (file) => {
          if (file.sha256 !== sha256OfKey(ready.blobKey)) throw error;
        });
        const mended = again.get(ready);
        if (mended === undefined || 'isUnread' in mended) throw error;
        return await this.#bytesOf(mended, this.#stop.signal);
      }
    });
  }

  #bytesOf(ready: ReadyAttachment, signal: AbortSignal): Promise<Uint8Array> {
    return unlessAborted(signal, this.#deps.attachments.blobs.read(ready));
  }

  /** Null: it has to be fetched. */
  async #copyOf(row: Attachment, signal: AbortSignal): Promise<Readied | null> {
    const { form, mediaType, sizeBytes, blobKey } = row;
    if (form === null || mediaType === null || sizeBytes === null || blobKey === null) return null;
    const kept = { ...row, form, mediaType, sizeBytes, blobKey, text: null };
    if (row.url === null) return kept;
    try {
      if (form === 'pdf' && !this.#takesPdf) return await this.#textOfPdf(kept, signal);
      if (form === 'text') return { ...kept, text: textOf(await this.#bytesOf(kept, signal)) };
    } catch (error) {
      if (!isLost(error)) throw error;
      return null;
    }
    // On S3 a HEAD each, five at once, beside the GET that follows: a lost one whose URL gives other bytes by now is
    // recorded anew, where the run would fail if that showed only when it is sent, and every later one with it.
    // What cannot be looked at now may be there when it is sent.
    const looked = this.#deps.attachments.blobs.has(kept).catch(() => true);
    return (await unlessAborted(signal, looked)) ? kept : null;
  }

  async #textOfPdf(row: ReadyAttachment, signal: AbortSignal): Promise<Readied> {
    using _ = await this.#deps.attachments.budget.reserve(this.#run.ownerId, row.sizeBytes, signal);
    const bytes = new Uint8Array(await this.#bytesOf(row, signal));
    const given = { ...givenAs(row), bytes, contentType: row.mediaType };
    const file = await this.#readAs(row, given, signal);
    if (file === null) return unread(row);
    // If copies are not kept any more, the copy stays unchanged: another run may send it as it is.
    const blobKey = this.#run.keepAttachments
      ? await keepCopy(this.#deps, this.#run, [row], file, this.#stop, signal)
      : await putAside(this.#deps, file, this.#aside, this.#stop, signal);
    return readyWith(row, file, blobKey);
  }

  /** Null: an earlier turn's PDF that this model takes neither as it is nor, for want of any, as text. */
  async #readAs(row: Attachment, given: Given, signal: AbortSignal): Promise<SentFile | null> {
    const wasSentAsItIs = row.runId !== this.#run.runId && row.form === 'pdf' && !this.#takesPdf;
    // Another file may have come in its place: of that it would not be true.
    const mayStayUnread = wasSentAsItIs && sniff(given.bytes, { html: false, text: false }) === 'pdf';
    try {
      return await readAttachment(this.#deps, given, row, this.#fetching, signal);
    } catch (error) {
      if (mayStayUnread && error instanceof Unreadable) return null;
      throw error;
    }
  }

  get #fetching() {
    const { ownerId, runId } = this.#run;
    return { ownerId, runId, takesPdf: this.#takesPdf };
  }

  async #fetch(
    url: string | null,
    rows: readonly Attachment[],
    signal: AbortSignal,
    ready: Map<Attachment, Readied>,
    check: (file: SentFile) => void = () => {},
  ): Promise<void> {
    if (url === null) throw new Error('An attachment has neither bytes nor a URL.');
    await fetchAttachment(this.#deps, url, rows, this.#fetching, signal, ({ rows: alike, given }) =>
      this.#failing(alike[0], async () => {
        const file = await this.#readAs(alike[0], given, signal);
        if (file !== null) check(file);
        const blobKey = file === null ? null : await this.#keep(alike, file, signal);
        for (const row of alike) {
          ready.set(row, file === null || blobKey === null ? unread(row) : readyWith(row, file, blobKey));
        }
      }),
    );
  }

  async #keep(rows: readonly Attachment[], file: SentFile, signal: AbortSignal): Promise<BlobKey> {
    if (this.#run.keepAttachments) return await keepCopy(this.#deps, this.#run, rows, file, this.#stop, signal);
    const blobKey = await putAside(this.#deps, file, this.#aside, this.#stop, signal);
    const changed = rows.filter((row) => !isRecorded(row, file));
    if (changed.length > 0) await recordWithoutCopy(this.#deps, this.#run, changed, file, this.#stop, signal);
    return blobKey;
  }

  async #failing<T>(row: Attachment | undefined, job: () => Promise<T>): Promise<T> {
    try {
      return await job();
    } catch (error) {
      const failure = row === undefined ? null : attachmentFailure(error, row, this.#run.runId);
      throw failure ?? error;
    }
  }
}

/** Missing or damaged; not where the store stumbled. */
const isLost = (error: unknown): boolean => error instanceof BlobUnavailable && !error.passing;

const textOf = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

const unread = (row: Attachment): UnreadPdf => ({ ...row, mediaType: 'application/pdf', isUnread: true });

function readyWith(row: Attachment, file: SentFile, blobKey: BlobKey): ReadyAttachment {
  const { form, mediaType, pages, bytes } = file;
  return {
    ...row,
    form,
    mediaType,
    pages,
    sizeBytes: bytes.length,
    blobKey,
    text: form === 'text' ? textOf(bytes) : null,
  };
}

/** Whether its row says already what was fetched, and that there is no copy. */
function isRecorded(row: Attachment, { form, mediaType, pages, bytes }: SentFile): boolean {
  if (row.blobKey !== null || row.form !== form || row.mediaType !== mediaType) return false;
  return row.pages === pages && row.sizeBytes === bytes.length;
}
