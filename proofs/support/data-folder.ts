import { rmSync } from 'node:fs';
import { temporaryFolder } from '@runwire/test-kit';

/** An empty data folder that outlives its servers and is deleted with the proof. */
export class DataFolder implements Disposable {
  readonly path = temporaryFolder();

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
