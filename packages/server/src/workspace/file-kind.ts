import { imageSize, imageType, KIND_BYTES, storedKind } from '@runwire/documents';
import type { AgentFileKind } from '../agent/files-port.ts';
import { lastSegment } from '../domain/file/mount-path.ts';

/** A JPEG has its size after its metadata, which rarely have more bytes than this. */
const IMAGE_BYTES = 1024 * 1024;

interface FileToJudge {
  readonly file: { readonly contentType: string; readonly path: string };
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface FileWithKind {
  readonly kind: AgentFileKind;
  /** All bytes of the file. Can be read once. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Finds out what a file is by its first bytes. */
export async function getKind({ file, bytes }: FileToJudge): Promise<FileWithKind> {
  const start = new FileStart(bytes);
  await start.fill(KIND_BYTES);
  const kind = await kindByStart(file, start);
  return { kind, bytes: start.all() };
}

async function kindByStart({ contentType, path }: FileToJudge['file'], start: FileStart): Promise<AgentFileKind> {
  const is = storedKind(start.bytes(), contentType, lastSegment(path));
  if (is !== 'image') return { is };
  const mediaType = imageType(start.bytes()) ?? contentType;
  if (imageSize(start.bytes()) === null) await start.fill(IMAGE_BYTES);
  return { is, mediaType, size: imageSize(start.bytes()) };
}

/** A stream's first bytes. They are kept, so that the whole stream can be read afterwards. */
class FileStart {
  readonly #rest: AsyncIterator<Uint8Array>;
  readonly #pieces: Uint8Array[] = [];
  #size = 0;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#rest = bytes[Symbol.asyncIterator]();
  }

  /** Reads until there are this many bytes, or to the end. */
  async fill(size: number): Promise<void> {
    while (this.#size < size) {
      const { done, value } = await this.#rest.next();
      if (done === true) return;
      this.#pieces.push(value);
      this.#size += value.length;
    }
  }

  bytes(): Uint8Array {
    return this.#pieces.length === 1 && this.#pieces[0] !== undefined ? this.#pieces[0] : Buffer.concat(this.#pieces);
  }

  async *all(): AsyncGenerator<Uint8Array, void> {
    try {
      for (let piece = this.#pieces.shift(); piece !== undefined; piece = this.#pieces.shift()) yield piece;
      for (let next = await this.#rest.next(); next.done !== true; next = await this.#rest.next()) yield next.value;
    } finally {
      await this.#rest.return?.();
    }
  }
}
