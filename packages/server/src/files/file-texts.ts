import { hash } from 'node:crypto';
import { StoreUnavailable } from '../domain/unavailable.ts';
import { type BlobStore, MAX_UNREFERRED_MS, newBlobKey, sha256OfKey } from '../storage/blob-store.ts';
import { storedPath, storeText } from '../store/queries/files.ts';
import { lockIntegrationForFiles } from '../store/queries/locks.ts';
import type { Store } from '../store/store.ts';
import type { StoredFile } from './files.ts';

/** The texts of documents, as blobs that the rows of the documents refer to. A new version of a file has no text yet. */
export class FileTexts {
  readonly #store: Store;
  readonly #blobs: BlobStore;

  constructor(store: Store, blobs: BlobStore) {
    this.#store = store;
    this.#blobs = blobs;
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
  async store(integrationId: string, { path, blobKey }: StoredFile, bytes: Uint8Array): Promise<void> {
    const textKey = newBlobKey(hash('sha256', bytes));
    await this.#blobs.put(textKey, bytes);
    const putAt = Date.now();
    const isReferred = await this.#store
      .transact('files', async (tx) => {
        if (Date.now() - putAt > MAX_UNREFERRED_MS) return false;
        // A change of the file frees the text that it finds, so it must find this one.
        await tx.all(lockIntegrationForFiles, { integrationId });
        return (await tx.run(storeText, { integrationId, path: storedPath(path), blobKey, textKey })) === 1;
      })
      .catch(async (error: unknown) => {
        // If the store is unavailable, the row may refer to the blob. If it does not, the sweep deletes the blob.
        if (!(error instanceof StoreUnavailable)) await this.#blobs.delete(textKey);
        throw error;
      });
    if (!isReferred) await this.#blobs.delete(textKey);
  }
}

/** A mark at the start of a text is a part of it. */
export const textOfBytes = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
