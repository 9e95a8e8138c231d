import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fillDisk, temporaryFolder } from '@runwire/test-kit';
import { LeftOut } from './proof.ts';

/** All points together store about 16 MiB. */
const SIZE = '64m';

/** A small disk of its own (tmpfs), with a data folder on it and a file that fills it. */
export class SizedDisk implements Disposable {
  readonly #folder: string;
  readonly dataDir: string;
  readonly file: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.dataDir = join(folder, 'data');
    this.file = join(folder, 'fill');
    mkdirSync(this.dataDir);
  }

  /** Throws `LeftOut` if this user may not mount; in CI it throws an error, because no proof is skipped there. */
  static mount(): SizedDisk {
    const folder = temporaryFolder();
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0700`, 'runwire-proof', folder], {
        stdio: 'pipe',
      });
    } catch (error) {
      rmdirSync(folder);
      const reason = String((error as { stderr?: Buffer }).stderr ?? error).trim();
      const sentence = `full-disk: this user may not mount a tmpfs (${reason}); run it as root.`;
      throw process.env.CI === undefined || process.env.CI === '' ? new LeftOut(sentence) : new Error(sentence);
    }
    return new SizedDisk(folder);
  }

  /** True once a server has filled it, also if the server removed something of its own since then. */
  get isFilled(): boolean {
    return existsSync(this.file);
  }

  /** Takes every block that is left. */
  fill(): void {
    fillDisk(this.file);
  }

  free(): void {
    rmSync(this.file, { force: true });
  }

  [Symbol.dispose](): void {
    // A lazy unmount: a server that is just ending may still have a file open.
    execFileSync('umount', ['-l', this.#folder]);
    rmdirSync(this.#folder);
  }
}
