import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LeftOut, until } from '@runwire/test-kit/shortfall.ts';
import { STRACE } from './services.ts';

const CALLS = 'fsync,fdatasync,rename,renameat,renameat2,write,writev,sendto,sendmsg';

/** A system call that succeeded. Its begin and its end are different lines if the trace was interrupted between them. */
export interface SystemCall {
  readonly name: string;
  /** The text between the brackets, with the paths of open files. */
  readonly text: string;
  readonly begunAt: number;
  readonly doneAt: number;
}

/**
 * Records the system calls of a process and all its threads, in order. `inject`: system calls that fail from now on, as
 * strace names them (`fsync:error=EIO`).
 */
export async function attachStrace(pid: number, inject: string | null = null) {
  const folder = mkdtempSync(join(tmpdir(), 'runwire-strace-'));
  const file = join(folder, 'calls');
  const faults = inject === null ? [] : ['-e', `inject=${inject}`];
  const args = ['-f', '-y', '-s', '200', '-e', `trace=${CALLS}`, ...faults, '-o', file, '-p', String(pid)];
  const child = spawn(STRACE, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const gone = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const isGone = gone.then(() => {
    throw new LeftOut(`strace cannot watch the server (${said.trim()}); install it, and run the proof as root.`);
  });
  isGone.catch(() => {});
  await Promise.race([until('strace', () => said.includes('attached')), isGone]);
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await gone;
  };
  return {
    /** Detaches from the process; resolves to the system calls that it made since the start of the trace. */
    calls: async (): Promise<SystemCall[]> => {
      await end('SIGINT');
      return readCalls(readFileSync(file, 'utf8'));
    },
    [Symbol.asyncDispose]: async () => {
      await end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const LINE = /^(\d+) +(?:<\.\.\. (\w+) resumed>(.*)|(\w+)\((.*))$/;
const succeeded = ({ text }: SystemCall) => /\) += \d+/.test(text);

/** Each line is a call, or the beginning of one, or the rest of one. */
function readCalls(trace: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const open = new Map<string, SystemCall>();
  for (const [at, line] of trace.split('\n').entries()) {
    const [, pid = '', resumed, rest = '', name = '', text = ''] = LINE.exec(line) ?? [];
    const begun = open.get(pid);
    if (resumed !== undefined) {
      if (begun?.name === resumed) calls.push({ ...begun, text: begun.text + rest, doneAt: at });
    } else if (text.endsWith('<unfinished ...>')) open.set(pid, { name, text, begunAt: at, doneAt: at });
    else if (name !== '') calls.push({ name, text, begunAt: at, doneAt: at });
  }
  return calls.filter(succeeded);
}
