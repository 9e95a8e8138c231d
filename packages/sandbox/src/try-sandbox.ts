import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sandbox, SandboxLimit, SandboxLimits } from './sandbox.ts';

const LIMITS: SandboxLimits = {
  seconds: 20,
  processMemoryMib: 512,
  memoryMib: 512,
  processes: 16,
  fileBytes: 1024 * 1024,
  folderBytes: 1024 * 1024,
  folderEntries: 10,
  outputBytes: 1024,
};

const TRIAL_LIMITS: Readonly<Record<SandboxLimit, string>> = {
  seconds: `${LIMITS.seconds} seconds`,
  memory: `${LIMITS.memoryMib} MiB of memory`,
  folder: `${LIMITS.folderEntries} files or ${LIMITS.folderBytes} bytes in its folder`,
  disk: 'the free space of the disk',
  output: `${LIMITS.outputBytes} bytes of output`,
  interpreter: 'the interpreter',
};

/** Runs a command that writes a file and prints it. Resolves to null if that worked, otherwise to the reason. */
export async function trySandbox(sandbox: Sandbox): Promise<string | null> {
  let folder: string | null = null;
  try {
    // Not in the data folder: with its own user, the sandbox cannot enter it.
    folder = mkdtempSync(join(tmpdir(), 'runwire-sandbox-'));
    if (sandbox.owner !== null) chownSync(folder, sandbox.owner.uid, sandbox.owner.gid);
    const command = { command: 'echo ready > trial.txt; cat trial.txt', folder, agencyFolder: null, workingFolder: '' };
    let output = '';
    const onOutput = (bytes: Uint8Array) => {
      output += Buffer.from(bytes).toString();
    };
    const end = await sandbox.run({ ...command, limits: LIMITS }, onOutput, new AbortController().signal);
    if (end.end === 'limit') return `a trial exceeded its limit of ${TRIAL_LIMITS[end.limit]}`;
    if (output === 'ready\n' && readFileSync(join(folder, 'trial.txt'), 'utf8') === output) return null;
    return `a trial printed \`${output.trim().slice(0, 200)}\` instead of \`ready\``;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}
