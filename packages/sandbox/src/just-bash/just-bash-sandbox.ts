import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
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
import type { BashRequest, BashResult } from './bash-request.ts';
import { childReads } from './child-reads.ts';

/** The exit code of a process that V8 aborted, because it had no memory left. */
const ABORTED = 134;

export interface JustBashOptions {
  /** False in proofs, to show which commands just-bash lacks itself. */
  readonly hasOwnCommands?: boolean;
}

/**
 * Interprets each command in its own process of Node, which may write to the command's folder, read it and its own
 * code, and do nothing else: no network, no other processes. For machines that forbid namespaces.
 */
export class JustBashSandbox implements Sandbox {
  readonly info: SandboxInfo = { kind: 'just-bash' };
  readonly owner: SandboxUser | null = null;
  readonly streamsOutput = false;
  readonly limitsProcesses = false;
  readonly #hasOwnCommands: boolean;

  constructor({ hasOwnCommands = true }: JustBashOptions = {}) {
    this.#hasOwnCommands = hasOwnCommands;
  }

  async run(command: SandboxCommand, onOutput: OnSandboxOutput, signal: AbortSignal): Promise<SandboxEnd> {
    if (signal.aborted) return { end: 'aborted' };
    const { folder, agencyFolder, workingFolder, limits } = command;
    const written = join(folder, workingFolder);
    const read = [...childReads(), written, join(written, '*')];
    if (agencyFolder !== null) read.push(agencyFolder, join(agencyFolder, '*'));
    const file = import.meta.url.endsWith('.ts') ? './bash-child.ts' : './bash-child.js';
    const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
      cwd: '/',
      env: {},
      detached: true,
      execArgv: [
        '--permission',
        ...read.map((path) => `--allow-fs-read=${path}`),
        ...[written, join(written, '*')].map((path) => `--allow-fs-write=${path}`),
        `--max-old-space-size=${limits.memoryMib}`,
        '--disable-warning=ExperimentalWarning',
      ],
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    });
    let result: BashResult | null = null;
    child.on('message', (message: BashResult) => {
      result = message;
    });
    const ended = supervise({
      child,
      outputs: [child.stdout as Readable],
      command,
      onOutput,
      signal,
      kill: () => child.kill('SIGKILL'),
      processes: () => (child.pid === undefined ? [] : [`/proc/${child.pid}`]),
    });
    const request: BashRequest = { ...command, hasOwnCommands: this.#hasOwnCommands };
    child.send(request, () => {});
    const end = await ended;
    if (end.end !== 'exited') return end;
    // The closure above sets it, which the compiler does not see.
    const reported = result as BashResult | null;
    if (reported !== null) {
      const { limit, exitCode } = reported;
      return limit === null ? { end: 'exited', exitCode } : { end: 'limit', limit };
    }
    if (end.exitCode === ABORTED) return { end: 'limit', limit: 'memory' };
    throw new SandboxFailed(`The process that interprets commands ended with exit code ${end.exitCode}.`);
  }
}
