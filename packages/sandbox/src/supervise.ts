import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OnSandboxOutput, type SandboxCommand, type SandboxEnd, SandboxFailed } from './sandbox.ts';
import { exceedsFolder, isDiskFull } from './watch-folder.ts';
import { MemoryWatch } from './watch-memory.ts';

/** How long to wait after a look. A large folder is looked at less often: the wait is at least so many times the look. */
const MEMORY_PAUSE = { ms: 50, times: 0 };
const FOLDER_PAUSE = { ms: 100, times: 9 };

export interface Supervision {
  readonly child: ChildProcess;
  /** The streams with the command's output. */
  readonly outputs: readonly Readable[];
  readonly command: SandboxCommand;
  readonly onOutput: OnSandboxOutput;
  readonly signal: AbortSignal;
  /** Ends all processes of the command. May be called several times. */
  readonly kill: () => void;
  /** Returns the folders in `/proc` of the processes whose memory and open files are watched. */
  readonly processes: () => readonly string[] | Promise<readonly string[]>;
  /** Resolves to memory that no process shows as its own. */
  readonly otherKib?: () => Promise<number>;
}

/** Watches a started command until it has ended, and ends it when it exceeds a limit. */
export async function supervise(supervision: Supervision): Promise<SandboxEnd> {
  const { child, outputs, command, onOutput, signal, kill, processes, otherKib } = supervision;
  const { limits } = command;
  let forced: SandboxEnd | null = null;
  const stop = (end: SandboxEnd) => {
    forced ??= end;
    kill();
    // A process that `kill` does not reach may keep the output open.
    for (const output of outputs) output.destroy();
  };
  const ended = new AbortController();
  const exit = Promise.withResolvers<number>();
  child.on('error', (error) => exit.reject(new SandboxFailed(`The sandbox could not be started: ${error.message}.`)));
  child.on('close', (code, name) => exit.resolve(code ?? 128 + (name === null ? 0 : constants.signals[name])));
  // A process that ends early resets its pipes. Its exit code is the reason.
  for (const stream of [...child.stdio, ...outputs]) stream?.on('error', () => {});

  const outputsClosed = Promise.all(outputs.map((output) => once(output, 'close')));
  let left = limits.outputBytes;
  for (const output of outputs) {
    output.on('data', (bytes: Buffer) => {
      if (forced !== null) return;
      if (left > 0) onOutput(bytes.subarray(0, left));
      left -= bytes.length;
      if (left < 0) stop({ end: 'limit', limit: 'output' });
    });
  }
  const timer = setTimeout(() => stop({ end: 'limit', limit: 'seconds' }), limits.seconds * 1000);
  const onAbort = () => stop({ end: 'aborted' });
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  const memory = new MemoryWatch(limits.memoryMib);
  const watches = [
    repeat(MEMORY_PAUSE, ended.signal, async () => {
      const other = (await otherKib?.()) ?? 0;
      if (await memory.isExceeded(await processes(), other)) stop({ end: 'limit', limit: 'memory' });
    }),
    repeat(FOLDER_PAUSE, ended.signal, async () => {
      if (await isDiskFull(command.folder)) stop({ end: 'limit', limit: 'disk' });
      else if (await exceedsFolder(command.folder, limits, await processes())) stop({ end: 'limit', limit: 'folder' });
    }),
  ];
  try {
    const exitCode = await exit.promise;
    await outputsClosed;
    return forced ?? { end: 'exited', exitCode };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    ended.abort();
    await Promise.all(watches);
  }
}

async function repeat(pause: { ms: number; times: number }, signal: AbortSignal, look: () => Promise<void>) {
  for (let took = 0; !signal.aborted; ) {
    await sleep(Math.max(pause.ms, took * pause.times), undefined, { signal }).catch(() => {});
    const startedAt = performance.now();
    if (!signal.aborted) await look();
    took = performance.now() - startedAt;
  }
}
