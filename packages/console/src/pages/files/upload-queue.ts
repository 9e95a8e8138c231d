import { useSyncExternalStore } from 'react';
import { api } from '../../app/api.ts';
import { InputError } from '../../app/errors.ts';
import { onPersonLeaves } from '../../app/person.ts';
import { queryClient, runMutation } from '../../app/query-client.ts';
import { formatCount } from '../../lib/format.ts';
import { notify } from '../../ui/toasts.tsx';
import { filesKey } from './files-query.ts';

/** A file on its way to the server. It leaves the queue when it is stored. */
export interface Upload {
  readonly id: number;
  readonly integration: string;
  readonly folder: string;
  readonly file: File;
  readonly state: 'waiting' | 'active' | 'failed';
  readonly loadedBytes: number;
  readonly error: unknown;
}

/** The API refuses larger files. */
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_ACTIVE = 3;
/** Lists are read again at most this often while files arrive. */
const REFRESH_MS = 2000;

/** Uploads files a few at a time. It continues while the person looks at other pages. */
class UploadQueue {
  #uploads: readonly Upload[] = [];
  #lastId = 0;
  #stored = 0;
  #refreshedAt = 0;
  readonly #aborts = new Map<number, AbortController>();
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly all = () => this.#uploads;

  add(integration: string, folder: string, files: readonly File[]): void {
    const added = files.map((file): Upload => {
      this.#lastId += 1;
      return { id: this.#lastId, integration, folder, file, state: 'waiting', loadedBytes: 0, error: null };
    });
    this.#set([...this.#uploads, ...added]);
    this.#startNext();
  }

  /** Stops an upload, or forgets a failed one. */
  remove(id: number): void {
    this.#aborts.get(id)?.abort();
    this.#set(this.#uploads.filter((upload) => upload.id !== id));
    this.#startNext();
  }

  /** Stops all uploads and forgets them: they belong to the person who added them. */
  clear(): void {
    for (const abort of this.#aborts.values()) abort.abort();
    this.#stored = 0;
    this.#set([]);
  }

  tryAgain(id: number): void {
    this.#change(id, { state: 'waiting', loadedBytes: 0, error: null });
    this.#startNext();
  }

  #startNext(): void {
    const active = this.#uploads.filter(({ state }) => state === 'active').length;
    const waiting = this.#uploads.filter(({ state }) => state === 'waiting');
    for (const upload of waiting.slice(0, MAX_ACTIVE - active)) {
      this.#change(upload.id, { state: 'active' });
      void this.#run(upload);
    }
  }

  async #run(upload: Upload): Promise<void> {
    const { id, integration, folder, file } = upload;
    const abort = new AbortController();
    this.#aborts.set(id, abort);
    const send = async () => {
      if (file.size === 0) throw new InputError('The file is empty. Upload a file with content.');
      if (file.size > MAX_BYTES) throw new InputError('The file is larger than 20 MiB. Upload a smaller file.');
      await api().upload(file, {
        apiIntegrationId: integration,
        folder,
        signal: abort.signal,
        onProgress: ({ loadedBytes }) => this.#change(id, { loadedBytes }),
      });
    };
    try {
      await runMutation(send);
      if (!abort.signal.aborted) this.#stored += 1;
      this.#set(this.#uploads.filter((one) => one.id !== id));
    } catch (error) {
      this.#change(id, { state: 'failed', error });
    } finally {
      this.#aborts.delete(id);
    }
    this.#startNext();
    this.#report(integration);
  }

  #report(integration: string): void {
    const isBusy = this.#uploads.some(({ state }) => state !== 'failed');
    if (isBusy && Date.now() - this.#refreshedAt < REFRESH_MS) return;
    this.#refreshedAt = Date.now();
    if (this.#stored > 0) void queryClient.invalidateQueries({ queryKey: filesKey(integration) });
    if (isBusy) return;
    if (this.#stored > 0) notify(`${formatCount(this.#stored, 'file')} uploaded.`);
    this.#stored = 0;
  }

  /** Has no effect on an upload that was removed. */
  #change(id: number, change: Partial<Upload>): void {
    this.#set(this.#uploads.map((upload) => (upload.id === id ? { ...upload, ...change } : upload)));
  }

  #set(uploads: readonly Upload[]): void {
    this.#uploads = uploads;
    for (const listener of this.#listeners) listener();
  }
}

export const uploadQueue = new UploadQueue();
onPersonLeaves(() => uploadQueue.clear());

export const useUploads = (): readonly Upload[] => useSyncExternalStore(uploadQueue.subscribe, uploadQueue.all);
