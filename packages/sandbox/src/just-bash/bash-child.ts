import { join } from 'node:path';
import { Bash, defineCommand, InMemoryFs, OverlayFs } from 'just-bash';
import { ADAPTED_COMMANDS } from './adapted-commands.ts';
import type { BashRequest, BashResult } from './bash-request.ts';
import { CommandFs, FolderFs } from './stage-fs.ts';

/** The process that interprets one command. Node's permission model lets it write to one folder only. */

/** How just-bash reports that a command exceeded one of its limits. A program that cannot be started has this code too. */
const LIMIT_EXCEEDED = 126;
const EXCEEDED = /\bexceed(s|ed)\b/;
const TOO_MUCH_OUTPUT = /output size (limit )?exceeded/;

/** What time and memory limit already, with the server's limits. */
const UNLIMITED = 1_000_000_000;
const MAX_CALL_DEPTH = 1000;

function getLimit(exitCode: number, stderr: string): BashResult['limit'] {
  if (exitCode !== LIMIT_EXCEEDED || !EXCEEDED.test(stderr)) return null;
  return TOO_MUCH_OUTPUT.test(stderr) ? 'output' : 'interpreter';
}

/** Programs that just-bash has only with threads, which the permission model forbids. */
const MISSING = ['python3', 'python', 'sqlite3'].map((name) =>
  defineCommand(name, async () => ({
    stdout: '',
    stderr: `${name}: command not found in this sandbox, which is just-bash; use bash, awk or jq\n`,
    exitCode: 127,
  })),
);

process.on('disconnect', () => process.exit(1));

/** Writes all bytes, however slowly they are read. */
const write = (bytes: Buffer) => new Promise<void>((resolve) => process.stdout.write(bytes, () => resolve()));

async function run(request: BashRequest): Promise<BashResult> {
  const { command, folder, agencyFolder, workingFolder, limits, hasOwnCommands } = request;
  const base = new InMemoryFs({ '/dev/null': '' });
  base.mkdirSync('/tmp', { recursive: true });
  const fs = new CommandFs({ base });
  const maxFileReadSize = limits.fileBytes;
  const written = new FolderFs({ root: join(folder, workingFolder), maxFileSize: limits.fileBytes });
  const inside = join('/app/mnt', workingFolder);
  if (agencyFolder !== null) {
    fs.mount('/app/agency', new OverlayFs({ root: agencyFolder, mountPoint: '/', readOnly: true, maxFileReadSize }));
  }
  fs.mount(inside, written);
  const bash = new Bash({
    fs,
    cwd: inside,
    customCommands: [...MISSING, ...(hasOwnCommands ? ADAPTED_COMMANDS : [])],
    env: { HOME: '/tmp', TMPDIR: '/tmp', USER: 'sandbox' },
    executionLimits: {
      maxOutputSize: limits.outputBytes + 1,
      maxExecutionTimeMs: limits.seconds * 1000,
      maxFileSystemBytes: 64 * 1024 * 1024,
      maxCallDepth: MAX_CALL_DEPTH,
      maxCommandCount: UNLIMITED,
      maxLoopIterations: UNLIMITED,
      maxAwkIterations: UNLIMITED,
      maxSedIterations: UNLIMITED,
      maxJqIterations: UNLIMITED,
      maxGlobOperations: UNLIMITED,
      maxTraversalWork: UNLIMITED,
      maxWorkUnits: UNLIMITED,
    },
  });
  const { stdout, stderr, exitCode, stdoutKind } = await bash.exec(command, { rawScript: true });
  await write(Buffer.from(stdout, stdoutKind === 'bytes' ? 'latin1' : 'utf8'));
  const links = fs.links.paths().filter((path) => path.startsWith(`${inside}/`));
  const notKept = links.map((path) => `bash: ${path}: a symbolic link, which is not kept after the command\n`);
  await write(Buffer.from([stderr, ...fs.refused, ...notKept].join('')));
  return { exitCode: fs.refused.size > 0 ? exitCode || 1 : exitCode, limit: getLimit(exitCode, stderr) };
}

process.once('message', async (request: BashRequest) => {
  let result: BashResult = { exitCode: 1, limit: null };
  try {
    result = await run(request);
  } catch (error) {
    await write(Buffer.from(`bash: ${error instanceof Error ? error.message : error}\n`));
  }
  process.send?.(result, () => process.exit(0));
});
