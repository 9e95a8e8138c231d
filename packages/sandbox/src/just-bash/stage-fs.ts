import { type CpOptions, type FsStat, MountableFs, ReadWriteFs, type RmOptions } from 'just-bash';
import { CommandLinks } from './command-links.ts';

type Write = Parameters<ReadWriteFs['writeFile']>;
type CommandWrite = Parameters<MountableFs['writeFile']>;
type FolderOptions = ConstructorParameters<typeof ReadWriteFs>[0] & { readonly maxFileSize: number };

function countBytes(content: Write[1], options: Write[2]): number {
  if (typeof content !== 'string') return content.length;
  const encoding = typeof options === 'string' ? options : options?.encoding;
  return Buffer.byteLength(content, encoding ?? 'utf8');
}

/**
 * A command's folder. Node's permission model forbids the calls with which just-bash copies files and removes empty
 * folders, so they are made of others. `ReadWriteFs` has no limit for written files.
 */
export class FolderFs extends ReadWriteFs {
  readonly #maxFileSize: number;

  constructor({ maxFileSize, ...options }: FolderOptions) {
    super({ ...options, maxFileReadSize: maxFileSize, maxCopyOnWriteSize: maxFileSize, maxCopySize: maxFileSize });
    this.#maxFileSize = maxFileSize;
  }

  override async writeFile(...[path, content, options]: Write): Promise<void> {
    this.#checkSize(path, countBytes(content, options));
    await super.writeFile(path, content, options);
  }

  override async appendFile(...[path, content, options]: Write): Promise<void> {
    const stats = await this.stat(path).catch(() => null);
    this.#checkSize(path, (stats?.size ?? 0) + countBytes(content, options));
    await super.appendFile(path, content, options);
  }

  override async cp(from: string, to: string, options: CpOptions = {}): Promise<void> {
    const stats = await this.stat(from);
    if (!stats.isDirectory) {
      await this.writeFile(to, await this.readFileBuffer(from));
      await this.chmod(to, stats.mode);
      return;
    }
    if (options.recursive !== true) throw new Error(`EISDIR: illegal operation on a directory, cp '${from}'`);
    // Listed first: a folder can be copied into itself.
    const names = await this.readdir(from);
    await this.mkdir(to, { recursive: true });
    for (const name of names) await this.cp(`${from}/${name}`, `${to}/${name}`, options);
  }

  override async rm(path: string, options: RmOptions = {}): Promise<void> {
    const isFolder = options.recursive !== true && (await this.lstat(path).catch(() => null))?.isDirectory === true;
    if (isFolder && (await this.readdir(path)).length > 0)
      throw new Error(`ENOTEMPTY: directory not empty, rm '${path}'`);
    await super.rm(path, isFolder ? { ...options, recursive: true } : options);
  }

  #checkSize(path: string, size: number): void {
    if (size > this.#maxFileSize) throw new Error(`EFBIG: file too large, write '${path}'`);
  }
}

/**
 * All files that a command sees, with its symbolic links. If a write is refused, just-bash ends the whole command and
 * loses its output. So a refused write is remembered, and the command continues as after a redirection that failed.
 */
export class CommandFs extends MountableFs {
  /** A sentence for each file; a redirection writes twice. */
  readonly refused = new Set<string>();
  readonly links = new CommandLinks();

  override async writeFile(...[path, ...write]: CommandWrite): Promise<void> {
    await this.#try(path, () => super.writeFile(this.links.follow(path), ...write));
  }

  override async appendFile(...[path, ...write]: CommandWrite): Promise<void> {
    await this.#try(path, () => super.appendFile(this.links.follow(path), ...write));
  }

  override async readFile(...[path, options]: Parameters<MountableFs['readFile']>): Promise<string> {
    return super.readFile(this.links.follow(path), options);
  }

  override async readFileBytes(path: string): ReturnType<MountableFs['readFileBytes']> {
    return super.readFileBytes(this.links.follow(path));
  }

  override async readFileBuffer(path: string): Promise<Uint8Array> {
    return super.readFileBuffer(this.links.follow(path));
  }

  override async exists(path: string): Promise<boolean> {
    return super.exists(this.links.follow(path));
  }

  override async stat(path: string): Promise<FsStat> {
    return super.stat(this.links.follow(path));
  }

  override async lstat(path: string): Promise<FsStat> {
    return this.links.stat(path) ?? super.lstat(this.links.at(path));
  }

  override async readdir(path: string): Promise<string[]> {
    const names = await super.readdir(this.links.follow(path));
    return [...names, ...this.links.namesIn(path)].sort();
  }

  override async rm(path: string, options: RmOptions = {}): Promise<void> {
    if (this.links.delete(path)) return;
    await super.rm(this.links.at(path), options);
    this.links.deleteBelow(path);
  }

  override async cp(from: string, to: string, options: CpOptions = {}): Promise<void> {
    await super.cp(this.links.follow(from), this.links.follow(to), options);
    this.links.copyBelow(from, to);
  }

  override async mv(from: string, to: string): Promise<void> {
    const target = this.links.target(from);
    if (target === undefined) {
      await super.mv(this.links.at(from), this.links.at(to));
      this.links.delete(to);
      this.links.copyBelow(from, to);
      this.links.deleteBelow(from);
      return;
    }
    this.links.delete(from);
    if (await super.exists(this.links.at(to))) await super.rm(this.links.at(to));
    this.links.add(to, target);
  }

  override async symlink(target: string, path: string): Promise<void> {
    if (this.links.target(path) !== undefined || (await super.exists(this.links.at(path)))) {
      throw new Error(`EEXIST: file already exists, symlink '${path}'`);
    }
    this.links.add(path, target);
  }

  override async readlink(path: string): Promise<string> {
    return this.links.target(path) ?? super.readlink(this.links.at(path));
  }

  override async realpath(path: string): Promise<string> {
    return super.realpath(this.links.follow(path));
  }

  override async chmod(path: string, mode: number): Promise<void> {
    await super.chmod(this.links.follow(path), mode);
  }

  override async utimes(path: string, ...times: [atime: Date, mtime: Date]): Promise<void> {
    await super.utimes(this.links.follow(path), ...times);
  }

  override async mkdir(...[path, options]: Parameters<MountableFs['mkdir']>): Promise<void> {
    await super.mkdir(this.links.follow(path), options);
  }

  override async link(from: string, to: string): Promise<void> {
    await super.link(this.links.follow(from), this.links.at(to));
  }

  async #try(path: string, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.refused.add(`bash: ${path}: ${error instanceof Error ? error.message : error}\n`);
    }
  }
}
