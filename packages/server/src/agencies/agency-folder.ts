import { createHash } from 'node:crypto';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';

/** A file of the agency could not be read. The message is for its author. */
export class FileRefused extends Error {}

const MIB = 1024 * 1024;
const MAX_BYTES = MIB;

/** Reads one agency's files, and hashes what it reads. Nothing outside the folder can be read. */
export class AgencyFolder {
  readonly #folder: string;
  readonly #read = new Map<string, string>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(folder: string): Promise<AgencyFolder> {
    return new AgencyFolder(await realpath(folder));
  }

  /** The real path. */
  get path(): string {
    return this.#folder;
  }

  /** The SHA-256 of all files that were read. */
  get hash(): string {
    const hash = createHash('sha256');
    for (const [file, text] of [...this.#read].sort(([a], [b]) => (a < b ? -1 : 1))) {
      hash.update(`${file}\0${text.length}\0${text}`);
    }
    return hash.digest('hex');
  }

  /** Reads a text file by its path from the folder. */
  async read(file: string, maxBytes = MAX_BYTES): Promise<string> {
    const path = await this.#locate(file);
    const { size } = await stat(path);
    if (size > maxBytes) throw new FileRefused(`\`${file}\` is larger than ${maxBytes / MIB} MiB; make it smaller.`);
    const bytes = await readFile(path);
    let text: string;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      throw new FileRefused(`\`${file}\` is not UTF-8 text; save it as UTF-8.`);
    }
    this.#read.set(file, text);
    return text;
  }

  /** Adds a text to the hash. */
  include(name: string, text: string): void {
    this.#read.set(name, text);
  }

  /** A file's real path. Throws `FileRefused` if it does not exist, is no file, or is outside the folder. */
  async #locate(file: string): Promise<string> {
    const outside = `\`${file}\` is outside the agency's folder; move the file into the folder.`;
    const written = relative(this.#folder, join(this.#folder, file));
    if (written === '..' || written.startsWith(`..${sep}`)) throw new FileRefused(outside);
    let path: string;
    try {
      path = await realpath(join(this.#folder, file));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ELOOP') throw new FileRefused(`\`${file}\` is a symbolic link to itself; replace it by a file.`);
      throw new FileRefused(`There is no file \`${file}\` in the agency's folder; create it, or fix its name.`);
    }
    // A symbolic link may lead out of the folder.
    if (!path.startsWith(this.#folder + sep)) throw new FileRefused(outside);
    if (!(await stat(path)).isFile()) throw new FileRefused(`\`${file}\` is a folder; name a file.`);
    return path;
  }

  /** The names in a folder, in byte order; empty if it does not exist. */
  async list(folder: string): Promise<readonly string[]> {
    const names = await readdir(join(this.#folder, folder)).catch(() => []);
    return names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }
}

/** The path from the agency's folder of a file that `from` names: `./x.md` is beside `from`. */
export function besideFile(from: string, name: string): string {
  return join(dirname(from), name).replaceAll('\\', '/');
}
