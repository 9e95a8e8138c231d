import type { RunRequest, SandboxFile } from '@runwire/client';
import { api } from '../../app/api.ts';
import { Changes } from './changes.ts';

/** A file that the next message has. */
export interface Attachment {
  readonly key: number;
  readonly name: string;
  readonly size: number | null;
  /** From 0 to 1. */
  readonly progress: number;
  /** Set after the upload. */
  readonly uploaded: SandboxFile | null;
  readonly error: unknown;
  /** Null for a file of an earlier message. */
  readonly file: File | null;
}

export interface UploadTarget {
  readonly apiIntegrationId: string;
  readonly member: string | undefined;
}

/** The folder of files without a member. */
const FOLDER = '/app/mnt/playground';
/** An API request has at most this many attachments. */
const MAX_IMAGES = 5;
/** Five of them, in base64, are less than the largest body. */
const MAX_IMAGE_BYTES = 4_000_000;
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** The files of the message that is being written. They are uploaded immediately. */
export class Attachments {
  readonly changes = new Changes();
  items: readonly Attachment[] = [];
  readonly #aborts = new Map<number, AbortController>();
  #count = 0;

  get areUploaded(): boolean {
    return this.items.every(({ uploaded }) => uploaded !== null);
  }

  get areUploading(): boolean {
    return this.items.some(({ uploaded, error }) => uploaded === null && error === null);
  }

  get files(): readonly SandboxFile[] {
    return this.items.flatMap(({ uploaded }) => uploaded ?? []);
  }

  /** Files of an earlier message, which are in the mount already. */
  restore(files: readonly SandboxFile[]): void {
    const shared = { size: null, progress: 1, error: null, file: null };
    this.#set([
      ...this.items,
      ...files.map((uploaded) => ({ ...shared, key: this.#key(), name: uploaded.name, uploaded })),
    ]);
  }

  add(files: Iterable<File>, target: UploadTarget): void {
    for (const file of files) {
      const key = this.#key();
      const { size } = file;
      const name = isPasted(file) ? pastedName(file, key) : file.name;
      this.#set([...this.items, { key, name, size, progress: 0, uploaded: null, error: null, file }]);
      void this.#upload(key, target);
    }
  }

  retry(key: number, target: UploadTarget): void {
    this.#change(key, { error: null, progress: 0 });
    void this.#upload(key, target);
  }

  /** Cancels the upload if it has not ended. */
  remove(key: number): void {
    this.#aborts.get(key)?.abort();
    this.#set(this.items.filter((item) => item.key !== key));
  }

  clear(): void {
    for (const { key } of this.items) this.remove(key);
  }

  /** The images that the model can see. Larger ones and other files are read with tools only. */
  async images(): Promise<NonNullable<RunRequest['attachments']>> {
    const files = this.items.flatMap(({ file }) => (file !== null && isVisible(file) ? [file] : []));
    return await Promise.all(
      files
        .slice(0, MAX_IMAGES)
        .map(async (file) => ({ type: 'input_image' as const, image_url: await dataUrlOf(file) })),
    );
  }

  async #upload(key: number, { apiIntegrationId, member }: UploadTarget): Promise<void> {
    const item = this.items.find((one) => one.key === key);
    if (item === undefined || item.file === null) return;
    const abort = new AbortController();
    this.#aborts.set(key, abort);
    const { signal } = abort;
    try {
      const folder =
        member === undefined
          ? FOLDER
          : (await api().members.get({ apiIntegrationId, consumerId: member }, { signal })).folder;
      const onProgress = ({ loadedBytes, totalBytes }: { readonly loadedBytes: number; readonly totalBytes: number }) =>
        this.#change(key, { progress: totalBytes === 0 ? 1 : loadedBytes / totalBytes });
      const uploaded = await api().upload(item.file, { apiIntegrationId, folder, name: item.name, signal, onProgress });
      this.#change(key, { uploaded, progress: 1 });
    } catch (error) {
      if (!signal.aborted) this.#change(key, { error });
    } finally {
      this.#aborts.delete(key);
    }
  }

  #key(): number {
    this.#count += 1;
    return this.#count;
  }

  #change(key: number, fields: Partial<Attachment>): void {
    this.#set(this.items.map((item) => (item.key === key ? { ...item, ...fields } : item)));
  }

  #set(items: readonly Attachment[]): void {
    this.items = items;
    this.changes.add();
  }
}

const isVisible = ({ type, size }: File) => IMAGE_TYPES.includes(type) && size <= MAX_IMAGE_BYTES;

/** Browsers give this name to every image of the clipboard. */
const isPasted = ({ name }: File) => name === 'image.png';
const pastedName = ({ lastModified }: File, key: number) =>
  `pasted-${new Date(lastModified).toISOString().replace(/[:.]/g, '-')}-${key}.png`;

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
