import { hash } from 'node:crypto';
import type { Audit } from '../audit/audit.ts';
import { lastSegment, type MountPath, startOfPath, wholePath } from '../domain/file/mount-path.ts';
import type { StagedChange } from '../domain/file/staged-change.ts';
import type { IntegrationId } from '../domain/ids.ts';
import type { RunIdentity } from '../domain/run/admitted-run.ts';
import { RunLost } from '../domain/run/run-lost.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import { type BlobStore, type ByteRange, MAX_UNREFERRED_MS, newFileBlobKey } from '../storage/blob-store.ts';
import {
  afterFile,
  type FileRow,
  fileAt,
  filesIn,
  makerOfFile,
  mountPath,
  parseRange,
  rangeBelow,
  type SeenFiles,
  storedPath,
} from '../store/queries/files.ts';
import { holdRun } from '../store/queries/runs.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { EventOutbox } from '../webhooks/event-outbox.ts';
import { changeFiles, deleteBelow } from './change-files.ts';
import { checkFormOpen, type FormTimes } from './closed-folders.ts';
import { BlobGone, claimBlobs, type PendingBatch, type PendingBlobs } from './pending-blobs.ts';
import { recordUpload } from './record-upload.ts';

/** A version of a file. */
export interface StoredFile {
  readonly kind: 'file';
  readonly path: MountPath;
  readonly size: number;
  /** The MD5 of the bytes, with the quotes that HTTP requires. */
  readonly etag: string;
  readonly contentType: string;
  /** In milliseconds since 1970. */
  readonly modifiedAt: number;
  readonly blobKey: string;
  /** The blob with the document's text; null if it was not converted yet. */
  readonly textKey: string | null;
}

/** A folder exists while there is a file below it. */
export interface FileFolder {
  readonly kind: 'folder';
  readonly path: MountPath;
}

export type FileEntry = StoredFile | FileFolder;

export interface FilePage {
  /** Ordered by name, by the UTF-8 bytes. */
  readonly entries: readonly FileEntry[];
  readonly hasMore: boolean;
}

export interface OpenedFile extends AsyncDisposable {
  readonly file: StoredFile;
  /** Can be read once. Disposing stops the read. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

export const md5Etag = (bytes: Uint8Array): string => `"${hash('md5', bytes)}"`;

export interface FilesDeps {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly pending: PendingBlobs;
  /** Publishes the uploads of this integration that S3 has received. */
  readonly settleUploads: (integrationId: IntegrationId) => Promise<void>;
  readonly outbox: EventOutbox;
  readonly logger: Logger;
}

/** A run that changes files. */
export type ChangingRun = Pick<RunIdentity, 'integrationId' | 'consumerId' | 'runId'> & { readonly attempt: number };

export const ALL_FILES: SeenFiles = { all: true };

/** How many rows `walk` reads at a time. */
const BATCH = 500;

/**
 * The files of all integrations: a row in the store for each, with its bytes in a blob. Paths are canonical
 * (`domain/file/mount-path.ts`); `''` is the mount. Rejects with `StoreUnavailable` if a later retry can succeed.
 */
export class Files {
  readonly #deps: FilesDeps;

  constructor(deps: FilesDeps) {
    this.#deps = deps;
  }

  /** Resolves to null if the file does not exist or is not seen. */
  async find(integrationId: IntegrationId, path: MountPath, seen = ALL_FILES): Promise<StoredFile | null> {
    const { store, settleUploads } = this.#deps;
    await settleUploads(integrationId);
    const row = await first(store.reads.query(filesIn(integrationId, parseRange(path), seen, 1)));
    return row === undefined ? null : getFile(row);
  }

  /** Resolves to the first of these paths at which there is no file, or to null. */
  async firstMissing(integrationId: IntegrationId, paths: readonly MountPath[]): Promise<MountPath | null> {
    const { store, settleUploads } = this.#deps;
    await settleUploads(integrationId);
    const found = await Promise.all(
      paths.map((path) => store.reads.all(fileAt, { integrationId, path: storedPath(path) })),
    );
    return paths.find((_, index) => found[index]?.length === 0) ?? null;
  }

  /**
   * Lists the entries directly in a folder, after the name `after`. Resolves to null if nothing below the folder is seen,
   * unless the folder is the mount.
   */
  async list(
    integrationId: IntegrationId,
    folder: MountPath,
    { after, limit, seen = ALL_FILES }: { after: string | null; limit: number; seen?: SeenFiles },
  ): Promise<FilePage | null> {
    await this.#deps.settleUploads(integrationId);
    const entries: FileEntry[] = [];
    for (let last = after, isEnd = false; !isEnd && entries.length <= limit; ) {
      // Skips what is left below the last folder, so the cost does not depend on the number of files there.
      const range = rangeBelow(folder, last);
      const rows = await this.#deps.store.reads.query(filesIn(integrationId, range, seen, limit + 1));
      addEntries(entries, folder, rows);
      isEnd = rows.length <= limit;
      last = lastSegment(entries.at(-1)?.path ?? '');
    }
    const isEmpty = entries.length === 0 && folder !== '';
    if (isEmpty && (after === null || !(await this.#isFolder(integrationId, folder, seen)))) return null;
    return { entries: entries.slice(0, limit), hasMore: entries.length > limit };
  }

  async #isFolder(integrationId: IntegrationId, folder: MountPath, seen: SeenFiles): Promise<boolean> {
    return (await this.#deps.store.reads.query(filesIn(integrationId, rangeBelow(folder), seen, 1))).length > 0;
  }

  /** Yields all files below a folder, at any depth, ordered by path. */
  async *walk(integrationId: IntegrationId, folder: MountPath, seen = ALL_FILES): AsyncGenerator<StoredFile> {
    const { store, settleUploads } = this.#deps;
    await settleUploads(integrationId);
    for (let range = rangeBelow(folder); ; ) {
      const rows = await store.reads.query(filesIn(integrationId, range, seen, BATCH));
      for (const row of rows) yield getFile(row);
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) return;
      range = { ...range, from: afterFile(last.path) };
    }
  }

  /** Opens this version of a file, also after it was replaced or deleted. */
  async open(file: StoredFile, range?: ByteRange): Promise<OpenedFile> {
    const { blobs, logger } = this.#deps;
    const { blobKey } = file;
    const opened = await blobs.open(blobKey, range);
    if (opened === null) {
      logger.error({ blobKey }, 'the bytes of a file are missing: check that all nodes see the same folder or bucket');
      throw new StoreUnavailable(`The bytes of a file are missing: ${blobKey}.`);
    }
    return { file, bytes: opened.bytes, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
  }

  /**
   * Stores an upload. It exists completely and durably when this resolves, or not at all. If `bytes` throws, rejects with
   * that error. Replaces an earlier file. Throws `PathTaken` and `FormClosed`.
   */
  async upload(
    integrationId: IntegrationId,
    form: FormTimes & { readonly contentType: string; readonly signedAt: number },
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<{ readonly etag: string }> {
    const { store, blobs, pending, outbox } = this.#deps;
    const { path, contentType, signedAt } = form;
    const blobKey = newFileBlobKey();
    const check = (tx: Tx) => checkFormOpen(tx, integrationId, form);
    const batch = await pending.begin([blobKey], { integrationId, consumerId: null, path }, check);
    try {
      const { size, md5 } = await blobs.write(blobKey, bytes);
      const etag = `"${md5}"`;
      const writtenAt = Date.now();
      const put = { kind: 'put', path, blobKey, size, etag, contentType, signedAt, chatKey: null } as const;
      await store.transact('files', async (tx) => {
        const now = Date.now();
        if (now - writtenAt > MAX_UNREFERRED_MS) throw new BlobGone();
        await check(tx);
        await claimBlobs(tx, batch);
        await changeFiles(tx, integrationId, [{ ...put, modifiedAt: now }], now);
        await recordUpload(tx, outbox, integrationId, put);
      });
      outbox.committed(integrationId);
      return { etag };
    } catch (error) {
      await pending.abandon(batch, error);
      throw error instanceof BlobGone ? new StoreUnavailable('This process was stopped for too long.') : error;
    }
  }

  /**
   * Records the blobs that a run writes for files, before their bytes are written. Rejects if the run has ended. The blobs
   * are in one folder of the disk, so that concurrent writes share its syncs.
   */
  async beginChanges({ integrationId, consumerId, runId, attempt }: ChangingRun, count: number): Promise<PendingBatch> {
    const together = newFileBlobKey().slice(0, 2);
    const keys = Array.from({ length: count }, () => `${together}${newFileBlobKey().slice(2)}`);
    return this.#deps.pending.begin(keys, { integrationId, consumerId, path: null }, async (tx) => {
      if ((await tx.run(holdRun, { runId, attempt })) !== 1) throw RunLost.ofAttempt(runId, attempt);
    });
  }

  /** Stores bytes under a key of a batch. They become a file by `publishChanges`. */
  async store(
    blobKey: string,
    bytes: Uint8Array | AsyncIterable<Uint8Array>,
  ): Promise<NonNullable<StagedChange['put']>> {
    const { blobs } = this.#deps;
    if (bytes instanceof Uint8Array) {
      await blobs.put(blobKey, bytes);
      return { blobKey, size: bytes.length, etag: md5Etag(bytes) };
    }
    const { size, md5 } = await blobs.write(blobKey, bytes);
    return { blobKey, size, etag: `"${md5}"` };
  }

  /** Deletes a batch's bytes, unless they became files. */
  async discard(batch: PendingBatch): Promise<void> {
    await this.#deps.pending.abandon(batch);
  }

  /** Resolves to false if there is no such file. */
  async delete(integrationId: IntegrationId, path: MountPath, audit: Audit): Promise<boolean> {
    const { store, settleUploads } = this.#deps;
    await settleUploads(integrationId);
    const deleted = await store.transact('files', async (tx) => {
      const maker = await first(tx.all(makerOfFile, { integrationId, path: storedPath(path) }));
      const count = await changeFiles(tx, integrationId, [{ kind: 'delete', path }], Date.now());
      if (count > 0) await audit(tx, { ...fileChange(integrationId, path), consumerId: maker?.consumer_id ?? null });
      return count;
    });
    return deleted > 0;
  }

  /** Deletes everything below a folder. Resolves to the number of files. */
  async deleteFolder(integrationId: IntegrationId, folder: MountPath, audit: Audit): Promise<number> {
    const { store, settleUploads } = this.#deps;
    await settleUploads(integrationId);
    return store.transact('files', async (tx) => {
      const count = await deleteBelow(tx, integrationId, folder, Date.now());
      if (count > 0) await audit(tx, fileChange(integrationId, folder));
      return count;
    });
  }
}

const fileChange = (integrationId: IntegrationId, path: MountPath) =>
  ({ target: ['file', wholePath(path)], integrationId, path: storedPath(path) }) as const;

/** Adds the files of these rows that are directly in the folder, and each folder once. */
function addEntries(entries: FileEntry[], folder: MountPath, rows: readonly FileRow[]): void {
  const prefix = folder === '' ? '' : `${folder}/`;
  for (const row of rows) {
    const file = getFile(row);
    const slash = file.path.indexOf('/', prefix.length);
    if (slash === -1) entries.push(file);
    else {
      const path = startOfPath(file.path, slash);
      if (entries.at(-1)?.path !== path) entries.push({ kind: 'folder', path });
    }
  }
}

function getFile(row: FileRow): StoredFile {
  return {
    kind: 'file',
    path: mountPath(row.path),
    size: row.size_bytes,
    etag: row.etag,
    contentType: row.content_type,
    modifiedAt: row.modified_at,
    blobKey: row.blob_key,
    textKey: row.text_key,
  };
}
