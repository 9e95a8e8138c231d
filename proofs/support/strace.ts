import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STRACE } from '../../test/support/services.ts';
import { LeftOut, within } from './proof.ts';

const ATTACH_MS = 30_000;
const CALLS = 'fsync,fdatasync,rename,renameat,renameat2,write,writev,sendto,sendmsg';

/**
 * A system call that succeeded. Its begin and its end are different lines if the trace was interrupted between them.
 */
export interface SystemCall {
  readonly name: string;
  /** The text between the brackets, with the paths of open files. */
  readonly text: string;
  readonly begunAt: number;
  readonly doneAt: number;
}

/** Records the system calls of a process and all its threads, in order. */
export class Strace implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'runwire-strace-'));
  readonly #child: ChildProcess;
  readonly #gone: Promise<unknown>;

  private constructor(pid: number, inject: string | null) {
    const faults = inject === null ? [] : ['-e', `inject=${inject}`];
    const args = ['-f', '-y', '-s', '200', '-e', `trace=${CALLS}`, ...faults, '-o', this.#file, '-p', String(pid)];
    this.#child = spawn(STRACE, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#gone = new Promise((resolve) => this.#child.once('exit', resolve));
  }

  /** `inject`: system calls that fail from now on, as strace names them (`fsync:error=EIO`). */
  static async attach(pid: number, inject: string | null = null): Promise<Strace> {
    const strace = new Strace(pid, inject);
    const attached = new Promise<void>((resolve, reject) => {
      let said = '';
      const fail = () =>
        reject(new LeftOut(`strace cannot watch the server (${said.trim()}); install it, and run the proof as root.`));
      strace.#child.stderr?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes('attached')) resolve();
      });
      strace.#child.once('error', fail);
      strace.#child.once('exit', fail);
    });
    await within('strace', ATTACH_MS, attached);
    return strace;
  }

  get #file(): string {
    return join(this.#folder, 'calls');
  }

  /** Detaches from the process; resolves to the system calls that it made since the start of the trace. */
  async calls(): Promise<SystemCall[]> {
    this.#child.kill('SIGINT');
    await this.#gone;
    return readCalls(readFileSync(this.#file, 'utf8'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const LINE = /^(\d+) +(?:<\.\.\. (\w+) resumed>(.*)|(\w+)\((.*))$/;

/** Each line is a call, or the beginning of one, or the rest of one. */
export function readCalls(text: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const open = new Map<string, { readonly name: string; readonly text: string; readonly begunAt: number }>();
  for (const [at, line] of text.split('\n').entries()) {
    const [, pid = '', resumed, rest = '', name = '', args = ''] = LINE.exec(line) ?? [];
    if (resumed !== undefined) {
      const begun = open.get(pid);
      if (begun?.name === resumed && succeeded(rest)) calls.push({ ...begun, text: begun.text + rest, doneAt: at });
    } else if (args.endsWith('<unfinished ...>')) open.set(pid, { name, text: args, begunAt: at });
    else if (name !== '' && succeeded(args)) calls.push({ name, text: args, begunAt: at, doneAt: at });
  }
  return calls;
}

const succeeded = (text: string) => /\) += \d+/.test(text);
