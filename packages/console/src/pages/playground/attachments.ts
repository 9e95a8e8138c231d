import type { RunRequest, SandboxFile } from '@runwire/client';
import { api } from '../../app/api.ts';
import { InputError } from '../../app/errors.ts';
import { noteError } from '../../app/query-client.ts';
import { formatCount } from '../../lib/format.ts';
import { randomId } from '../../lib/random-id.ts';
import { Changes } from '../transcript/changes.ts';
import type { AttachedFile, EarlierFiles } from '../transcript/turn.ts';

interface UploadTarget {
  readonly apiIntegrationId: string;
  readonly chatId: string;
  readonly member: string | undefined;
}

/** The folder of files without a member. */
const FOLDER = '/app/mnt';
/** A request has at most this many files, and this many attachments. */
const MAX_FILES = 5;
/** Five of them, in base64, are less than the largest body. */
const MAX_IMAGE_BYTES = 4_000_000;
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** The files of the message that is being written. They are uploaded immediately. */
export class Attachments {
  readonly changes = new Changes();
  items: readonly AttachedFile[] = [];
  /** Why the last action was refused. */
  problem: InputError | null = null;
  #target: UploadTarget;
  readonly #aborts = new Map<number, AbortController>();
  #count = 0;

  constructor(target: UploadTarget) {
    this.#target = target;
  }

  get areUploaded(): boolean {
    return this.items.every(({ uploaded }) => uploaded !== null);
  }

  get areUploading(): boolean {
    return this.items.some(({ uploaded, error }) => uploaded === null && error === null);
  }

  get files(): readonly SandboxFile[] {
    return this.items.flatMap(({ uploaded }) => uploaded ?? []);
  }

  /** True if the model gets some of the files as images. */
  get hasImages(): boolean {
    return this.items.some(({ file }) => file !== null && isVisible(file));
  }

  refuse(problem: string): void {
    this.problem = new InputError(problem);
    this.changes.add();
  }

  /** Files that are for another member are uploaded again. Files of earlier messages cannot be, and are removed. */
  setTarget(target: UploadTarget): void {
    this.#target = target;
    const others = this.items.filter(({ member }) => member !== target.member);
    const lost = others.filter(({ file }) => file === null);
    for (const { key } of lost) this.remove(key);
    for (const { key } of others) this.retry(key);
    if (lost.length > 0) {
      this.refuse(
        'The files of the earlier message belong to another member, so they were removed. Attach them again.',
      );
    }
  }

  /** The files are in the mount already. The person is asked to attach the rest. */
  restoreEarlier({ files, attachments }: EarlierFiles, member: string | undefined): void {
    const shared = { size: null, progress: 1, error: null, file: null, member, key: 0 };
    this.restore(files.map((uploaded) => ({ ...shared, name: uploaded.name, uploaded })));
    if (attachments.length > 0) {
      const count = formatCount(attachments.length, 'attachment');
      this.refuse(`The earlier message also had ${count}, which the server does not return. Attach what is missing.`);
    }
  }

  /** Files that were attached before. */
  restore(items: readonly AttachedFile[]): void {
    this.#set([...this.items, ...items.map((item) => ({ ...item, key: this.#key() }))]);
  }

  add(files: Iterable<File>): void {
    this.problem = null;
    for (const file of files) {
      if (this.items.length === MAX_FILES) {
        this.refuse(`A message can have at most ${MAX_FILES} files. The others were not attached.`);
        return;
      }
      const key = this.#key();
      const { member } = this.#target;
      const { size } = file;
      const name = isPasted(file) ? pastedName(file, key) : file.name;
      this.#set([...this.items, { key, name, size, member, progress: 0, uploaded: null, error: null, file }]);
      void this.#upload(key);
    }
  }

  retry(key: number): void {
    this.#aborts.get(key)?.abort();
    this.#change(key, { error: null, progress: 0, uploaded: null, member: this.#target.member });
    void this.#upload(key);
  }

  /** Cancels the upload if it has not ended. */
  remove(key: number): void {
    this.#aborts.get(key)?.abort();
    this.problem = null;
    this.#set(this.items.filter((item) => item.key !== key));
  }

  clear(): void {
    this.problem = null;
    for (const { key } of this.items) this.remove(key);
  }

  /** The images that the model can see. Larger ones and other files are read with tools only. */
  async images(): Promise<NonNullable<RunRequest['attachments']>> {
    const files = this.items.flatMap(({ file }) => (file !== null && isVisible(file) ? [file] : []));
    return await Promise.all(
      files.map(async (file) => ({ type: 'input_image' as const, image_url: await toDataUrl(file) })),
    );
  }

  async #upload(key: number): Promise<void> {
    const item = this.items.find((one) => one.key === key);
    if (item === undefined || item.file === null) return;
    const { apiIntegrationId, chatId, member } = this.#target;
    const abort = new AbortController();
    this.#aborts.set(key, abort);
    const { signal } = abort;
    try {
      const parent =
        member === undefined
          ? FOLDER
          : (await api().members.get({ apiIntegrationId, consumerId: member }, { signal })).folder;
      // Every file has a folder of its own, so that no other file of the same name is replaced.
      const folder = `${parent}/playground/${getSegment(chatId)}/${randomId().slice(0, 8)}`;
      const onProgress = ({ loadedBytes, totalBytes }: { readonly loadedBytes: number; readonly totalBytes: number }) =>
        this.#change(key, { progress: totalBytes === 0 ? 1 : loadedBytes / totalBytes });
      const uploaded = await api().upload(item.file, { apiIntegrationId, folder, name: item.name, signal, onProgress });
      if (!signal.aborted) this.#change(key, { uploaded, progress: 1 });
    } catch (error) {
      if (signal.aborted) return;
      noteError(error);
      this.#change(key, { error });
    } finally {
      if (this.#aborts.get(key) === abort) this.#aborts.delete(key);
    }
  }

  #key(): number {
    this.#count += 1;
    return this.#count;
  }

  #change(key: number, fields: Partial<AttachedFile>): void {
    this.#set(this.items.map((item) => (item.key === key ? { ...item, ...fields } : item)));
  }

  #set(items: readonly AttachedFile[]): void {
    this.items = items;
    this.changes.add();
  }
}

/** A chat id as a folder's name. */
const getSegment = (chatId: string) => chatId.replace(/[^\w-]+/g, '-').slice(0, 64);

const isVisible = ({ type, size }: File) => IMAGE_TYPES.includes(type) && size <= MAX_IMAGE_BYTES;

/** Browsers give this name to every image of the clipboard. */
const isPasted = ({ name }: File) => name === 'image.png';
const pastedName = ({ lastModified }: File, key: number) =>
  `pasted-${new Date(lastModified).toISOString().replace(/[:.]/g, '-')}-${key}.png`;

function toDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () =>
      reject(new InputError(`The file ${file.name} cannot be read any more. Remove it, and attach it again.`));
    reader.readAsDataURL(file);
  });
}
