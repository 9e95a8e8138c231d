import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Refusal } from '../../domain/refusal.ts';
import { compress, type Encoding } from '../content-encoding.ts';

const INDEX = 'index.html';
const ASSETS = 'assets/';
/** The page in the folder is for `/console/`. */
const BASE = '<base href="./" />';
/** There is one variant of the page for each level, so their number has a limit. */
const MAX_LEVELS = 12;

/** The types of files that Vite emits. */
const TYPES: Readonly<Record<string, { readonly type: string; readonly isText: boolean }>> = {
  '.html': { type: 'text/html; charset=utf-8', isText: true },
  '.js': { type: 'text/javascript; charset=utf-8', isText: true },
  '.css': { type: 'text/css; charset=utf-8', isText: true },
  '.svg': { type: 'image/svg+xml', isText: true },
  '.md': { type: 'text/plain; charset=utf-8', isText: true },
};
/** The build writes `app.js.br` beside `app.js`. In a clone there is none. */
const BROTLI = '.br';
const OTHER_TYPE = { type: 'application/octet-stream', isText: false };

/** The build copies the files beside the server's code. */
export const builtConsole = (): string =>
  fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../../../console/built' : './console', import.meta.url));

/** A file of the console in memory, with its compressed forms. */
export class ConsoleFile {
  readonly type: string;
  readonly etag: string;
  /** True if the name contains a hash of the content, so that the content of this name never changes. */
  readonly isImmutable: boolean;
  /** True if compression makes it smaller. */
  readonly isText: boolean;
  readonly #bytes: Buffer;
  readonly #compressed = new Map<Encoding, Promise<Buffer>>();

  /** `brotli`: the same bytes, compressed by the build. */
  constructor(name: string, bytes: Buffer, brotli?: Buffer) {
    const { type, isText } = TYPES[extname(name)] ?? OTHER_TYPE;
    this.type = type;
    this.isText = isText;
    this.isImmutable = name.startsWith(ASSETS);
    // Weak, because all encodings have the same.
    this.etag = `W/"${hash('sha256', bytes, 'base64url').slice(0, 22)}"`;
    this.#bytes = bytes;
    if (brotli !== undefined) this.#compressed.set('br', Promise.resolve(brotli));
  }

  get text(): string {
    return this.#bytes.toString();
  }

  /** Compresses the file when an encoding is asked for the first time, unless the build has done it. */
  async bytes(encoding: Encoding | null): Promise<Buffer> {
    if (encoding === null) return this.#bytes;
    const known = this.#compressed.get(encoding) ?? compress(this.#bytes, encoding, 'kept');
    this.#compressed.set(encoding, known);
    return known;
  }
}

/** The console's built files. Only names that were found in the folder are served. */
export class ConsoleFiles {
  readonly #folder: string;
  #read: Promise<ReadonlyMap<string, ConsoleFile>> | null = null;
  readonly #pages = new Map<number, ConsoleFile>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Returns the file for a path below `/console/`: the file of that name, otherwise the page, which shows the path itself.
   * Throws a `Refusal` if there is none.
   */
  async at(path: string): Promise<ConsoleFile> {
    const files = await this.#files();
    const file = path === INDEX ? undefined : files.get(path);
    if (file !== undefined) return file;
    const levels = path.split('/').length - 1;
    if (path.startsWith(ASSETS) || levels > MAX_LEVELS) throw new Refusal('not_found');
    const index = files.get(INDEX);
    if (index === undefined) throw missing();
    return this.#page(index, levels);
  }

  /** The page finds its files and the server relative to its base, so that it works below any path prefix. */
  #page(index: ConsoleFile, levels: number): ConsoleFile {
    const known = this.#pages.get(levels);
    if (known !== undefined) return known;
    const base = levels === 0 ? BASE : `<base href="${'../'.repeat(levels)}" />`;
    const page = new ConsoleFile(INDEX, Buffer.from(index.text.replace(BASE, base)));
    this.#pages.set(levels, page);
    return page;
  }

  /** Reads the folder when the console is opened for the first time, so that the start does not wait for it. */
  #files(): Promise<ReadonlyMap<string, ConsoleFile>> {
    this.#read ??= readFolder(this.#folder).catch((error) => {
      this.#read = null;
      throw error.code === 'ENOENT' ? missing() : error;
    });
    return this.#read;
  }
}

function missing(): Refusal {
  return new Refusal(
    'not_found',
    'The files of the console are missing on this server; install it again, or run `npm run console` in a clone. The API works without them.',
  );
}

async function readFolder(folder: string): Promise<ReadonlyMap<string, ConsoleFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      return [relative(folder, path).replaceAll(sep, '/'), await readFile(path)] as const;
    });
  const read = new Map(await Promise.all(files));
  const served = [...read].filter(([name]) => !name.endsWith(BROTLI));
  return new Map(served.map(([name, bytes]) => [name, new ConsoleFile(name, bytes, read.get(name + BROTLI))]));
}
