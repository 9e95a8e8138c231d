import { hash } from 'node:crypto';
import type { IntegrationId } from '../domain/ids.ts';
import { type BlobStore, MAX_UNREFERRED_MS, newBlobKey, sha256OfKey } from '../storage/blob-store.ts';
import { fileAt, storedPath, storeText } from '../store/queries/files.ts';
import { lockIntegrationForFiles } from '../store/queries/locks.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import type { StoredFile } from './files.ts';
import { BlobGone, claimBlobs, type PendingBlobs } from './pending-blobs.ts';

/** The file was replaced or deleted, or another reader was faster. */
class FileChanged extends Error {
  override readonly name = 'FileChanged';
}

/** The texts of documents, as blobs that the rows of the documents refer to. A new version of a file has no text yet. */
export class FileTexts {
  readonly #store: Store;
  readonly #blobs: BlobStore;
  readonly #pending: PendingBlobs;

  constructor(store: Store, blobs: BlobStore, pending: PendingBlobs) {
    this.#store = store;
    this.#blobs = blobs;
    this.#pending = pending;
  }

  /** Resolves to null if no text is stored for this version of the file, or if its blob is missing or damaged. */
  async read({ textKey }: StoredFile): Promise<string | null> {
    if (textKey === null) return null;
    const bytes = await this.#blobs.read(textKey);
    return bytes === null || hash('sha256', bytes) !== sha256OfKey(textKey) ? null : textOfBytes(bytes);
  }

  /**
   * Stores the text for later readers. Does nothing if the file was replaced or deleted since, or if another reader was
   * faster.
   */
  async store(integrationId: IntegrationId, { path, blobKey }: StoredFile, bytes: Uint8Array): Promise<void> {
    const textKey = newBlobKey(hash('sha256', bytes));
    const file = { integrationId, path: storedPath(path) };
    const check = async (tx: Tx) => {
      // A change of the file frees the text that it finds, so it must find this one.
      await tx.all(lockIntegrationForFiles, { integrationId });
      if ((await first(tx.all(fileAt, file)))?.blob_key !== blobKey) throw new FileChanged();
    };
    try {
      const batch = await this.#pending.begin([textKey], { integrationId, consumerId: null, path }, check);
      try {
        await this.#blobs.put(textKey, bytes);
        const putAt = Date.now();
        await this.#store.transact('files', async (tx) => {
          if (Date.now() - putAt > MAX_UNREFERRED_MS) throw new FileChanged();
          await check(tx);
          await claimBlobs(tx, batch);
          if ((await tx.run(storeText, { ...file, blobKey, textKey })) !== 1) throw new FileChanged();
        });
      } catch (error) {
        await this.#pending.abandon(batch, error);
        throw error;
      }
    } catch (error) {
      if (!(error instanceof FileChanged) && !(error instanceof BlobGone)) throw error;
    }
  }
}

/** A mark at the start of a text is a part of it. */
export const textOfBytes = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
