import { type CpOptions, MountableFs, ReadWriteFs, type RmOptions } from 'just-bash';

/**
 * A command's folder. Node's permission model forbids the calls with which just-bash copies files and removes empty
 * folders, so they are made of others.
 */
export class FolderFs extends ReadWriteFs {
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
}

type Write = Parameters<MountableFs['writeFile']>;

/**
 * All files that a command sees. If a write is refused, just-bash ends the whole command and loses its output. So a refused
 * write is remembered, and the command continues as after a redirection that failed.
 */
export class CommandFs extends MountableFs {
  /** A sentence for each file; a redirection writes twice. */
  readonly refused = new Set<string>();

  override async writeFile(...write: Write): Promise<void> {
    await this.#try(write[0], () => super.writeFile(...write));
  }

  override async appendFile(...write: Write): Promise<void> {
    await this.#try(write[0], () => super.appendFile(...write));
  }

  override async symlink(): Promise<void> {
    throw new Error('this sandbox has no symbolic links; copy the file instead');
  }

  async #try(path: string, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.refused.add(`bash: ${path}: ${error instanceof Error ? error.message : error}\n`);
    }
  }
}
