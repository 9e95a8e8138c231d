import { type ChildProcess, spawn } from 'node:child_process';
import type { Logger } from '../../telemetry/logger.ts';

/** Reads the process groups to end, and ends them when the server is gone and its input closes. */
const SCRIPT = `
groups=' '
while read -r change group; do
  case $change in
    add) groups="$groups$group " ;;
    remove) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
`;

/**
 * Ends the agency processes if the server is killed. A process ends itself when its channel closes, but code that
 * never returns to its event loop does not notice that. Windows has no such guard.
 */
export class ProcessGuard implements Disposable {
  readonly #logger: Logger;
  #shell: ChildProcess | null = null;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  add(group: number): void {
    this.#write(`add ${group}\n`);
  }

  remove(group: number): void {
    if (this.#shell !== null) this.#write(`remove ${group}\n`);
  }

  #write(line: string): void {
    if (process.platform === 'win32') return;
    this.#shell ??= this.#start();
    this.#shell.stdin?.write(line);
  }

  #start(): ChildProcess {
    // In a group of its own, so that a signal for the server's group does not end it first.
    const shell = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, env: {} });
    const report = (error: unknown) =>
      this.#logger.warn({ err: error }, 'the guard of agency processes cannot run; they may outlive a killed server');
    shell.on('error', report);
    shell.stdin?.on('error', report);
    shell.unref();
    return shell;
  }

  [Symbol.dispose](): void {
    this.#shell?.stdin?.end();
    this.#shell = null;
  }
}
