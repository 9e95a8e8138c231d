import { posix } from 'node:path';
import type { FsStat } from 'just-bash';

/** As many links as Linux follows in one path. */
const MAX_FOLLOWED = 40;
const LINK_MODE = 0o777;

/**
 * The symbolic links that a command makes. Node's permission model forbids real ones, because they can lead out of the
 * permitted folders. These exist in memory only, and lead to paths that the command sees.
 */
export class CommandLinks {
  readonly #targets = new Map<string, string>();

  /** Returns the path without links. The last part stays a link if `isLastFollowed` is false. */
  follow(path: string, isLastFollowed = true): string {
    if (this.#targets.size === 0) return path;
    let rest = posix.resolve('/', path).split('/').slice(1);
    let followed = '/';
    for (let count = 0; rest.length > 0; ) {
      const [name = '', ...after] = rest;
      const next = posix.join(followed, name);
      const target = after.length > 0 || isLastFollowed ? this.#targets.get(next) : undefined;
      if (target === undefined) {
        followed = next;
        rest = after;
        continue;
      }
      count += 1;
      if (count > MAX_FOLLOWED) throw new Error(`ELOOP: too many levels of symbolic links, open '${path}'`);
      rest = [...posix.resolve(followed, target).split('/').slice(1), ...after];
      followed = '/';
    }
    return followed;
  }

  /** The path of the link itself: only the folders before it are followed. */
  at(path: string): string {
    return this.follow(posix.resolve('/', path), false);
  }

  target(path: string): string | undefined {
    return this.#targets.size === 0 ? undefined : this.#targets.get(this.at(path));
  }

  stat(path: string): FsStat | null {
    const target = this.target(path);
    if (target === undefined) return null;
    const size = Buffer.byteLength(target);
    return { isFile: false, isDirectory: false, isSymbolicLink: true, mode: LINK_MODE, size, mtime: new Date(0) };
  }

  add(path: string, target: string): void {
    this.#targets.set(this.at(path), target);
  }

  delete(path: string): boolean {
    return this.#targets.delete(this.at(path));
  }

  deleteBelow(folder: string): void {
    for (const path of this.#below(folder)) this.#targets.delete(path);
  }

  /** Copies the links below a folder into another one. */
  copyBelow(from: string, to: string): void {
    for (const path of this.#below(from)) {
      this.#targets.set(posix.join(this.at(to), path.slice(this.at(from).length)), this.#targets.get(path) ?? '');
    }
  }

  /** Returns the names of the links in a folder. */
  namesIn(folder: string): readonly string[] {
    if (this.#targets.size === 0) return [];
    const followed = this.follow(folder);
    return [...this.#targets.keys()]
      .filter((path) => posix.dirname(path) === followed)
      .map((path) => posix.basename(path));
  }

  paths(): readonly string[] {
    return [...this.#targets.keys()];
  }

  #below(folder: string): readonly string[] {
    const start = `${this.at(folder)}/`;
    return this.paths().filter((path) => path.startsWith(start));
  }
}
