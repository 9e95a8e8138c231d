import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The parts of a long check that have passed, so that an interrupted run can continue. They count only for the same sources. */
export class Progress {
  readonly #file: string;
  readonly #passed: Set<string>;

  constructor(file: string, sources = sourcesLine()) {
    this.#file = file;
    const [first, ...labels] = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    this.#passed = new Set(first === sources ? labels : []);
    if (first === sources) return;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${sources}\n`);
  }

  has(label: string): boolean {
    return this.#passed.has(label);
  }

  add(label: string): void {
    appendFileSync(this.#file, `${label}\n`);
    this.#passed.add(label);
  }

  /** The next run begins anew. */
  clear(): void {
    rmSync(this.#file, { force: true });
  }
}

function sourcesLine(): string {
  const git = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 }).stdout ?? '';
  const changes = createHash('sha256').update(git('diff', 'HEAD'));
  for (const file of git('ls-files', '-z', '--others', '--exclude-standard').split('\0').filter(Boolean)) {
    changes.update(file).update(readFileSync(file));
  }
  return `sources ${git('rev-parse', 'HEAD').trim()} ${changes.digest('hex')}`;
}
