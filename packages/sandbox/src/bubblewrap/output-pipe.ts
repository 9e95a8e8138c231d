import { execFile } from 'node:child_process';
import { constants, openSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { SandboxUser } from '../sandbox.ts';

const run = promisify(execFile);

export interface OutputPipe {
  readonly output: Readable;
  /** The descriptor for the command. The caller closes it. */
  readonly input: number;
}

/**
 * Opens a pipe for a command's output. The pipes that Node itself makes for a child are sockets, and programs cannot
 * open `/dev/stdout` or `/dev/stderr` if those are sockets.
 */
export async function openOutputPipe(owner: SandboxUser | null): Promise<OutputPipe> {
  const folder = await mkdtemp(join(tmpdir(), 'runwire-sandbox-'));
  try {
    const path = join(folder, 'output');
    await run('/usr/bin/mkfifo', ['-m', '600', path], { env: {} });
    if (owner !== null) await chown(path, owner.uid, owner.gid);
    const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const input = openSync(path, constants.O_WRONLY);
    const output = new Socket({ fd: reading, readable: true, writable: false });
    return { output, input };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
