import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Duplex, Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  type OnSandboxOutput,
  type Sandbox,
  type SandboxCommand,
  type SandboxEnd,
  SandboxFailed,
  type SandboxInfo,
  type SandboxUser,
} from '../sandbox.ts';
import { supervise } from '../supervise.ts';
import { kernelKib, namespaceProcesses } from '../watch-memory.ts';
import {
  bubblewrapArguments,
  DESCRIPTORS,
  firstProcess,
  GROUP,
  PASSWD,
  SANDBOX_USER,
  type Surroundings,
  systemArguments,
} from './arguments.ts';
import { openOutputPipe } from './output-pipe.ts';
import { seccompFilter } from './seccomp-filter.ts';
import type { Architecture } from './system-calls.ts';

const PROGRAM = '/usr/bin/bwrap';
const BASH = '/usr/bin/bash';
/** How long the first process may take to end before bubblewrap itself is killed. */
const KILL_MS = 2000;

export interface BubblewrapOptions {
  readonly proc: boolean;
  /** Replaced by tests and proofs, to show what the filter prevents. */
  readonly filter?: Buffer;
  /** For proofs, to show what the other walls prevent. */
  readonly changeArguments?: (all: readonly string[]) => readonly string[];
  readonly changeScript?: (script: string) => string;
}

/** Runs each command in its own namespaces, with a read-only view of the programs of this machine. */
export class BubblewrapSandbox implements Sandbox {
  readonly info: SandboxInfo;
  readonly owner: SandboxUser | null;
  readonly streamsOutput = true;
  readonly limitsProcesses = true;
  readonly #surroundings: Surroundings;
  readonly #filter: Buffer;
  readonly #options: BubblewrapOptions;

  constructor(options: BubblewrapOptions) {
    const { proc, filter } = options;
    this.#options = options;
    this.info = { kind: 'bubblewrap', proc, memory: 'watch' };
    this.owner = process.getuid?.() === 0 ? SANDBOX_USER : null;
    this.#surroundings = { system: systemArguments(), proc };
    this.#filter = filter ?? seccompFilter(process.arch as Architecture);
  }

  async run(command: SandboxCommand, onOutput: OnSandboxOutput, signal: AbortSignal): Promise<SandboxEnd> {
    if (signal.aborted) return { end: 'aborted' };
    const { input, output } = await openOutputPipe(this.owner);
    const child = this.#start(command, input);
    // The types know five descriptors only.
    const pipes: readonly unknown[] = child.stdio;
    // Set from the descriptor `info`: the process that is process 1 inside.
    let first: number | null = null;
    let killed = false;
    const kill = () => {
      killed = true;
      // Bubblewrap collects its child. If bubblewrap dies first, the child can remain as a zombie. Before the child is
      // known, it may wait for bubblewrap without end, so both are killed, by their process group.
      if (first !== null && killProcess(first)) setTimeout(() => child.kill('SIGKILL'), KILL_MS).unref();
      else if (child.pid !== undefined) killProcess(-child.pid);
    };
    const ended = supervise({
      child,
      outputs: [output],
      command,
      onOutput,
      signal,
      kill,
      processes: () => (first === null ? [] : namespaceProcesses(first)),
      otherKib: async () => (first === null ? 0 : kernelKib(first)),
    });
    const problem = text(child.stderr as Readable).catch(() => '');
    const give = (descriptor: number, content: string | Buffer) =>
      (pipes[descriptor] as Writable | undefined)?.end(content);
    const { changeArguments = (all) => all } = this.#options;
    give(DESCRIPTORS.args, `${changeArguments(bubblewrapArguments(this.#surroundings, command)).join('\0')}\0`);
    give(DESCRIPTORS.seccomp, this.#filter);
    give(DESCRIPTORS.passwd, PASSWD);
    give(DESCRIPTORS.group, GROUP);
    (pipes[DESCRIPTORS.info] as Duplex | undefined)?.end().on('data', (bytes: Buffer) => {
      first = Number(/"child-pid": (\d+)/.exec(String(bytes))?.[1] ?? 0) || first;
      if (killed) kill();
    });
    const end = await ended;
    // Only bubblewrap itself writes there: the command has its output elsewhere.
    const sentence = (await problem).trim().split('\n')[0] ?? '';
    if (end.end === 'exited' && sentence !== '') throw new SandboxFailed(`${sentence}.`);
    return end;
  }

  /** `output` becomes stdout of the command, and is closed in this process. */
  #start({ limits }: SandboxCommand, output: number): ChildProcess {
    const { changeScript = (script) => script } = this.#options;
    const script = changeScript(firstProcess(limits, this.#surroundings.proc));
    try {
      return spawn(PROGRAM, ['--args', String(DESCRIPTORS.args), '--', BASH, '-c', script], {
        cwd: '/',
        // Inside, the environment of process 1 can be read.
        env: {},
        detached: true,
        stdio: ['ignore', output, 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
        ...this.owner,
      });
    } finally {
      // When all processes of the command have ended, the reader gets the file's end.
      closeSync(output);
    }
  }
}

/** Returns false if the process, or a negative number's group, does not exist. */
function killProcess(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
