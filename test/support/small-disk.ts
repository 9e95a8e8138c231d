import { execFileSync } from 'node:child_process';
import { rmdirSync } from 'node:fs';
import { temporaryFolder } from '@runwire/test-kit';
import { LeftOut } from '@runwire/test-kit/shortfall.ts';

/** A small disk (tmpfs) of its own. Throws `LeftOut` if this user may not mount one. */
export class SmallDisk implements Disposable {
  readonly folder = temporaryFolder();

  constructor(proof: string, size: string) {
    const options = `size=${size},mode=0700`;
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'runwire-proof', this.folder], { stdio: 'pipe' });
    } catch (error) {
      rmdirSync(this.folder);
      const reason = String((error as { stderr?: Buffer }).stderr ?? error).trim();
      throw new LeftOut(`${proof}: this user may not mount a tmpfs (${reason}); run it as root.`);
    }
  }

  [Symbol.dispose](): void {
    // A lazy unmount: a server that is just ending may still have a file open.
    execFileSync('umount', ['-l', this.folder]);
    rmdirSync(this.folder);
  }
}
