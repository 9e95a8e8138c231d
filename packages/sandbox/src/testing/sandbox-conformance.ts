import assert from 'node:assert/strict';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox, SandboxEnd, SandboxLimits } from '../sandbox.ts';

const MIB = 1024 * 1024;

/** Enough for every command that does nothing special. */
export const SANDBOX_TEST_LIMITS: SandboxLimits = {
  seconds: 20,
  processMemoryMib: 1024,
  memoryMib: 256,
  processes: 64,
  fileBytes: 8 * MIB,
  folderBytes: 32 * MIB,
  folderEntries: 1000,
  outputBytes: 100_000,
};

type Files = Readonly<Record<string, string>>;

/** A command and what must come of it. */
export interface SandboxCase {
  readonly claim: string;
  readonly command: string;
  readonly limits?: Partial<SandboxLimits>;
  /** Files in the folder before, by their paths. */
  readonly files?: Files;
  readonly agencyFiles?: Files;
  readonly workingFolder?: string;
  /** A number is the exit code. */
  readonly end: number | SandboxEnd;
  /** The whole output, or a pattern in it. */
  readonly output?: string | RegExp;
  readonly absent?: RegExp;
  /** Files in the folder afterwards: all of them. */
  readonly after?: Files;
  /** True if only a sandbox that runs programs of the machine, and limits them itself, can do it. */
  readonly needsProcesses?: boolean;
  /** True if just-bash takes seconds for it. There only `npm run check:full` runs it. */
  readonly isLong?: boolean;
}

const limit = (name: Extract<SandboxEnd, { end: 'limit' }>['limit']): SandboxEnd => ({ end: 'limit', limit: name });

export const SANDBOX_CASES: readonly SandboxCase[] = [
  {
    claim: 'passes on output, errors and any exit code; stdin is empty',
    command: 'echo out; echo err >&2; cat; no-such-program; echo $?; echo exceeded; exit 126',
    end: 126,
    output: /^(?=[\s\S]*out\n)(?=[\s\S]*err\n)(?=[\s\S]*not found\n)[\s\S]*127\nexceeded\n/,
  },
  {
    claim: 'keeps the order of stdout and stderr',
    command: 'for i in 1 2 3; do echo o$i; echo e$i >&2; done',
    end: 0,
    output: 'o1\ne1\no2\ne2\no3\ne3\n',
    needsProcesses: true,
  },
  {
    claim: 'reads, changes, creates and deletes files',
    command: 'cat a.txt >> b.txt; rm a.txt; mkdir -p d/e; echo new > "d/e/ü 1.txt"',
    files: { 'a.txt': 'A', 'b.txt': 'B' },
    end: 0,
    after: { 'b.txt': 'BA', 'd/e/ü 1.txt': 'new\n' },
  },
  {
    claim: 'starts in the working folder',
    command: 'pwd; cat x.txt; echo y > y.txt',
    files: { 'u/42/x.txt': 'X\n' },
    workingFolder: 'u/42',
    end: 0,
    output: '/app/mnt/u/42\nX\n',
    after: { 'u/42/x.txt': 'X\n', 'u/42/y.txt': 'y\n' },
  },
  {
    claim: 'the working folder can have special characters',
    command: 'pwd; echo x > y',
    files: { 'it\'s a "$HOME" -x/a': '' },
    workingFolder: 'it\'s a "$HOME" -x',
    end: 0,
    output: '/app/mnt/it\'s a "$HOME" -x\n',
  },
  {
    claim: 'shows the agency folder',
    command: 'cat /app/agency/s/SKILL.md',
    agencyFiles: { 's/SKILL.md': 'skill\n' },
    end: 0,
    output: 'skill\n',
  },
  {
    claim: 'the agency folder is read-only, and a refused write keeps what was printed',
    command: 'echo before; echo x > /app/agency/s/SKILL.md',
    agencyFiles: { 's/SKILL.md': 'skill\n' },
    end: 1,
    output: /^before\n.*read-only file system/i,
  },
  {
    claim: 'copies files and folders, and removes empty folders',
    command: 'cp a.txt b.txt; cp -r d e; mkdir x; rmdir x; rmdir d; cp /app/agency/s.md .; ls',
    files: { 'a.txt': 'A', 'd/b/c.txt': 'C' },
    agencyFiles: { 's.md': 'S' },
    end: 0,
    output: /a\.txt\nb\.txt\nd\ne\ns\.md\n/,
    after: { 'a.txt': 'A', 'b.txt': 'A', 'd/b/c.txt': 'C', 'e/b/c.txt': 'C', 's.md': 'S' },
  },
  {
    claim: 'the command can be long, and a heredoc keeps its lines',
    command: `cat <<E\n  a\n\tb $((1+1))\nE\necho ${'x'.repeat(90_000)} | wc -c`,
    end: 0,
    output: /^ {2}a\n\tb 2\n *90001\n$/,
  },
  {
    claim: 'the environment has nothing of the server',
    command: 'env',
    end: 0,
    absent: /RUNWIRE|NODE|npm_|PLANTED/,
  },
  {
    claim: 'files of the server cannot be read',
    command: `cat ${join(import.meta.dirname, 'index.ts')} /etc/shadow /etc/hostname || echo refused`,
    end: 0,
    output: /refused\n/,
    absent: /export|root:/,
  },
  { claim: 'ends at the time limit', command: 'sleep 60', limits: { seconds: 1 }, end: limit('seconds') },
  {
    claim: 'a loop without end ends at the time limit',
    command: 'while true; do :; done',
    limits: { seconds: 1 },
    end: limit('seconds'),
  },
  {
    claim: 'a loop has no limit but the time',
    command: 'i=0; while ((i < 110000)); do i=$((i + 1)); done; echo $i',
    limits: { seconds: 60 },
    end: 0,
    output: '110000\n',
    isLong: true,
  },
  {
    claim: 'ignored signals do not stop the time limit',
    command: 'trap "" TERM INT HUP; sleep 60; sleep 60',
    limits: { seconds: 1 },
    end: limit('seconds'),
    needsProcesses: true,
  },
  {
    claim: 'endless output ends at its limit',
    command: 'yes',
    limits: { outputBytes: 5000 },
    end: limit('output'),
    output: /^(y\n){2500}$/,
    needsProcesses: true,
  },
  {
    claim: 'output of exactly the limit is whole',
    command: 'printf %05000d 7',
    limits: { outputBytes: 5000 },
    end: 0,
    output: /^0{4999}7$/,
  },
  {
    claim: 'memory of several processes ends at its limit',
    command: 'for i in 1 2 3 4; do (x=$(head -c 40000000 /dev/zero | tr "\\0" x); sleep 20; :) & done; wait',
    limits: { memoryMib: 100 },
    end: limit('memory'),
    needsProcesses: true,
  },
  {
    claim: 'memory of one process fails at its limit',
    command: 'ulimit -v; x=$(head -c 100000000 /dev/zero | tr "\\0" x); echo $?',
    limits: { processMemoryMib: 32 },
    end: 2,
    output: /^32768\n[\s\S]*cannot allocate/,
    needsProcesses: true,
  },
  {
    claim: 'too many files end at their limit',
    command: 'for i in $(seq 150); do : > f$i; done; sleep 20',
    limits: { folderEntries: 100 },
    end: limit('folder'),
  },
  {
    claim: 'many large files end at their limit',
    command: 'for i in $(seq 20); do head -c 4000000 /dev/zero > f$i; done; sleep 20',
    end: limit('folder'),
    needsProcesses: true,
  },
  {
    claim: 'deleted files that stay open count',
    command:
      'for i in 3 4 5 6 7 8; do eval "exec $i> f"; rm f; eval "head -c 8000000 /dev/zero >&$i"; done; ls; sleep 20',
    end: limit('folder'),
    output: '',
    needsProcesses: true,
  },
  {
    claim: 'a file cannot exceed its limit',
    command: 'head -c 20000000 /dev/zero > big; stat -c %s big',
    end: 0,
    output: /8388608\n$/,
    needsProcesses: true,
  },
  {
    claim: 'more processes than allowed are refused',
    command: 'for i in $(seq 100); do sleep 20 & done',
    limits: { processes: 16 },
    end: 254,
    output: /fork: Resource temporarily unavailable/,
    needsProcesses: true,
  },
  {
    claim: 'a daemon ends with the command',
    command: '(setsid bash -c "sleep 1; echo late > late.txt" > /dev/null 2>&1 &); echo done',
    end: 0,
    output: 'done\n',
    after: {},
    needsProcesses: true,
  },
  {
    claim: 'a program killed by a signal has exit code 128 and its number',
    command: 'bash -c "kill -9 \\$\\$"',
    end: 137,
    needsProcesses: true,
  },
];

/** A folder for commands, which belongs to the sandbox's user. */
export function makeStage(sandbox: Sandbox, files: Files = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'runwire-test-'));
  const give = (path: string) => {
    if (sandbox.owner !== null) chownSync(path, sandbox.owner.uid, sandbox.owner.gid);
  };
  give(folder);
  for (const [path, text] of Object.entries(files)) {
    const parts = path.split('/').slice(0, -1);
    for (const index of parts.keys()) {
      const parent = join(folder, ...parts.slice(0, index + 1));
      if (!existsSync(parent)) mkdirSync(parent, { mode: 0o700 });
      give(parent);
    }
    writeFileSync(join(folder, path), text, { mode: 0o600 });
    give(join(folder, path));
  }
  return folder;
}

/** Returns all regular files of a folder. */
export function readStage(folder: string): Files {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => lstatSync(join(folder, path)).isFile());
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

export interface SandboxRun {
  readonly end: SandboxEnd;
  readonly output: string;
  readonly files: Files;
}

/** Runs one case in fresh folders. */
export async function runCase(
  sandbox: Sandbox,
  { command, files, agencyFiles, workingFolder = '', limits }: Omit<SandboxCase, 'claim' | 'end'>,
  signal: AbortSignal = new AbortController().signal,
  onOutput: (text: string) => void = () => {},
): Promise<SandboxRun> {
  const folder = makeStage(sandbox, files);
  const agencyFolder = agencyFiles === undefined ? null : makeStage(sandbox, agencyFiles);
  try {
    const pieces: Uint8Array[] = [];
    const end = await sandbox.run(
      { command, folder, agencyFolder, workingFolder, limits: { ...SANDBOX_TEST_LIMITS, ...limits } },
      (bytes) => {
        pieces.push(bytes);
        onOutput(Buffer.from(bytes).toString());
      },
      signal,
    );
    if (agencyFolder !== null) assert.deepEqual(readStage(agencyFolder), agencyFiles, 'the agency folder is unchanged');
    return { end, output: Buffer.concat(pieces).toString(), files: readStage(folder) };
  } finally {
    for (const path of [folder, agencyFolder]) if (path !== null) rmSync(path, { recursive: true, force: true });
  }
}

export async function checkCase(sandbox: Sandbox, expected: SandboxCase): Promise<void> {
  const { end, output, files } = await runCase(sandbox, expected);
  const shown = `${JSON.stringify(end)}: ${output.slice(0, 2000)}`;
  const wanted = typeof expected.end === 'number' ? { end: 'exited', exitCode: expected.end } : expected.end;
  assert.deepEqual(end, wanted, shown);
  if (typeof expected.output === 'string') assert.equal(output, expected.output);
  else if (expected.output !== undefined) assert.match(output, expected.output);
  if (expected.absent !== undefined) assert.doesNotMatch(output, expected.absent);
  if (expected.after !== undefined) assert.deepEqual(files, expected.after);
}

/** What every sandbox promises; each adapter runs it. */
export function sandboxConformance(name: string, open: () => Sandbox | Promise<Sandbox>, skip: string | null): void {
  const claim = (text: string, check: (sandbox: Sandbox) => Promise<void>) =>
    test(`${name}: ${text}`, { skip: skip ?? false }, async () => check(await open()));

  for (const expected of SANDBOX_CASES) {
    claim(expected.claim, async (sandbox) => {
      if (expected.isLong === true && sandbox.info.kind === 'just-bash') return;
      if (expected.needsProcesses !== true || sandbox.limitsProcesses) await checkCase(sandbox, expected);
    });
  }

  claim('an abort ends the command', async (sandbox) => {
    const abort = new AbortController();
    const startedAt = performance.now();
    setTimeout(() => abort.abort(), 300);
    const { end } = await runCase(sandbox, { command: 'sleep 60' }, abort.signal);
    assert.deepEqual(end, { end: 'aborted' });
    assert.ok(performance.now() - startedAt < 15_000);
  });

  claim('an aborted signal starts nothing', async (sandbox) => {
    const run = await runCase(sandbox, { command: 'echo x > x; echo x' }, AbortSignal.abort());
    assert.deepEqual(run, { end: { end: 'aborted' }, output: '', files: {} });
  });

  claim('an abort at any moment leaves no process', async (sandbox) => {
    // Other tests sleep concurrently.
    const seconds = `31.${process.pid}`;
    for (const ms of [0, 1, 3, 5, 8, 12, 20, 40]) {
      const abort = new AbortController();
      const run = runCase(sandbox, { command: `sleep ${seconds}` }, abort.signal);
      await sleep(ms);
      abort.abort();
      assert.deepEqual((await run).end, { end: 'aborted' }, `${ms} ms`);
    }
    // A killed process of another program can be listed for a moment.
    const left = () => processesWith(`sleep\0${seconds}`);
    for (const begunAt = performance.now(); left().length > 0 && performance.now() - begunAt < 10_000; )
      await sleep(50);
    assert.deepEqual(left(), []);
  });

  claim('output arrives while the command runs', async (sandbox) => {
    if (!sandbox.streamsOutput) return;
    const abort = new AbortController();
    const onOutput = () => abort.abort();
    const { end, output } = await runCase(sandbox, { command: 'echo first; sleep 60' }, abort.signal, onOutput);
    assert.deepEqual([end, output], [{ end: 'aborted' }, 'first\n']);
  });

  claim('commands run concurrently, each over its own folder', async (sandbox) => {
    const numbers = [1, 2, 3];
    const runs = await Promise.all(
      numbers.map((number) => runCase(sandbox, { command: `echo ${number} > n; sleep 0.2; cat n` })),
    );
    assert.deepEqual(
      runs.map(({ output, files }) => [output, files]),
      numbers.map((number) => [`${number}\n`, { n: `${number}\n` }]),
    );
  });
}

/** Returns the processes of this machine whose command line begins with the text. */
function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(text);
    } catch {
      return false;
    }
  });
}
