import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { OnSandboxOutput, Sandbox, SandboxCommand, SandboxEnd, SandboxInfo, SandboxUser } from '../sandbox.ts';
import { supervise } from '../supervise.ts';

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Runs each command by a program of the operator, which isolates it: with gVisor, Firecracker or a container engine. */
export class ExecSandbox implements Sandbox {
  readonly info: SandboxInfo = { kind: 'exec' };
  readonly owner: SandboxUser | null = null;
  readonly streamsOutput = true;
  readonly limitsProcesses = false;
  readonly #program: string;

  constructor(program: string) {
    this.#program = program;
  }

  async run(command: SandboxCommand, onOutput: OnSandboxOutput, signal: AbortSignal): Promise<SandboxEnd> {
    if (signal.aborted) return { end: 'aborted' };
    const { folder, agencyFolder, limits } = command;
    const folders = agencyFolder === null ? [folder] : [folder, agencyFolder];
    // The shell gives stdout and stderr one pipe, so that their order stays.
    const child = spawn('/bin/sh', ['-c', 'exec "$0" "$@" 2>&1', this.#program, ...folders], {
      cwd: '/',
      env: {
        PATH,
        RUNWIRE_SANDBOX_SECONDS: String(limits.seconds),
        RUNWIRE_SANDBOX_MEMORY_MIB: String(limits.memoryMib),
        RUNWIRE_SANDBOX_PROCESSES: String(limits.processes),
        RUNWIRE_SANDBOX_FILE_MIB: String(Math.ceil(limits.fileBytes / 1024 ** 2)),
      },
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const kill = () => killGroup(child.pid);
    // What the program leaves in its group would keep the output open.
    child.on('exit', kill);
    const ended = supervise({
      child,
      outputs: [child.stdout as Readable],
      command,
      onOutput,
      signal,
      kill,
      // The program limits the memory, as its processes need not be descendants of this one.
      processes: () => [],
    });
    (child.stdin as Writable).end(script(command));
    return ended;
  }
}

function script({ command, workingFolder }: SandboxCommand): string {
  const folder = join('/app/mnt', workingFolder).replaceAll("'", "'\\''");
  return `cd -- '${folder}' || exit 126\n${command}\n`;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All processes of the group have ended.
  }
}
