import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type Files = Readonly<Record<string, string>>;

/** A folder of agencies that is deleted at the end. */
export class AgenciesFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'runwire-agencies-'));

  constructor(files: Files = {}) {
    this.write(files);
  }

  write(files: Files): void {
    for (const [file, text] of Object.entries(files)) writeFileSync(this.#getPlace(file), text);
  }

  link(path: string, target: string): void {
    symlinkSync(target, this.#getPlace(path));
  }

  delete(path: string): void {
    rmSync(join(this.path, path), { recursive: true });
  }

  #getPlace(file: string): string {
    const path = join(this.path, file);
    mkdirSync(dirname(path), { recursive: true });
    return path;
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}
