import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox, SandboxInfo, SandboxLimits } from '@runwire/sandbox';
import { makeStage } from '@runwire/sandbox/src/testing/sandbox-conformance.ts';
import { parentIn } from '@runwire/sandbox/src/watch-memory.ts';
import { openSandbox, type SandboxName } from '@runwire/test-kit/sandboxes.ts';
import { pathInMount } from '@runwire/test-kit/test-files.ts';
import { findFiles } from '../../packages/server/src/workspace/stage.ts';
import { getDisk } from './disk-of.ts';
import { type Attempt, MEASURED, type Sign } from './escape-attempt.ts';
import { ATTEMPTS } from './escape-attempts.ts';
import { EscapeHost, newToken, PLANTED, Victim } from './escape-host.ts';

/*
 * Makes the attempts of `escape` as this process's user: first without a sandbox, then in each. Prints a line of JSON
 * for each.
 */

export interface EscapeRequest {
  readonly sandboxes: readonly SandboxName[];
  readonly fault: string | null;
  /** The attempts' names; null for all of them. */
  readonly names: readonly string[] | null;
  /** The folder of everything that is planted. */
  readonly root: string;
  /** The commands' agency folder, with a set-uid program of root. */
  readonly skills: string;
}

export interface EscapeOutcome {
  readonly sandbox: SandboxInfo['kind'] | SandboxName | 'none';
  readonly name: string;
  readonly signs: readonly Sign[];
  readonly end: string;
  readonly ms: number;
  readonly mib: number;
  readonly diskMib: number;
  readonly output: string;
}

const request = JSON.parse(process.argv[2] ?? '{}') as EscapeRequest;

const MIB = 1024 * 1024;
const LIMITS: SandboxLimits = {
  seconds: 10,
  processMemoryMib: 512,
  memoryMib: 256,
  processes: 64,
  fileBytes: 32 * MIB,
  folderBytes: 64 * MIB,
  folderEntries: 2000,
  outputBytes: 1_000_000,
};
/** Above them the machine was not protected. The server looks at memory every 50 ms and at the disk every 100 ms. */
const MOST_MIB = 3 * LIMITS.memoryMib;
const MOST_PROCESSES = LIMITS.processes + 10;
const MOST_DISK_MIB = 512;
const LATE_MS = 2500;
const LANES = 3;
const SAMPLE_MS = 40;

interface Output {
  text: string;
  bytes: number;
}

interface Ran {
  readonly end: string;
}

type Run = (command: string, seconds: number, stage: string, output: Output) => Promise<Ran>;

const take = (output: Output) => (bytes: Uint8Array) => {
  output.bytes += bytes.length;
  if (output.text.length < 2_000_000) output.text += Buffer.from(bytes).toString('latin1');
};

/** Plain bash, as this user, which gets SIGTERM at the time limit. */
const withoutSandbox: Run = async (command, seconds, stage, output) => {
  const child = spawn('/bin/bash', ['-c', command], {
    cwd: join(stage, 'u/42'),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.on('data', take(output));
  child.stderr.on('data', take(output));
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid ?? 0), name);
    } catch {
      // The group has ended.
    }
  };
  const timers = [
    setTimeout(() => signal('SIGTERM'), seconds * 1000),
    setTimeout(() => signal('SIGKILL'), seconds * 1000 + 10_000),
  ];
  const code = await new Promise((resolve) => child.on('close', resolve));
  for (const timer of timers) clearTimeout(timer);
  return { end: `exit ${code}` };
};

const inSandbox =
  (sandbox: Sandbox): Run =>
  async (command, seconds, stage, output) => {
    const end = await sandbox.run(
      { command, folder: stage, agencyFolder: request.skills, workingFolder: 'u/42', limits: { ...LIMITS, seconds } },
      take(output),
      new AbortController().signal,
    );
    return {
      end: end.end === 'exited' ? `exit ${end.exitCode}` : end.end === 'limit' ? `limit ${end.limit}` : end.end,
    };
  };

/** Number and memory of all processes below this one. */
function processesBelow() {
  const parents = new Map<number, number>();
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    try {
      parents.set(pid, parentIn(readFileSync(`/proc/${pid}/stat`, 'latin1')));
    } catch {
      // The process has ended.
    }
  }
  const isBelow = (pid: number): boolean => {
    for (let one = parents.get(pid); one !== undefined && one !== 0; one = parents.get(one)) {
      if (one === process.pid) return true;
    }
    return false;
  };
  const pids = [...parents.keys()].filter(isBelow);
  let kib = 0;
  for (const pid of pids) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'latin1');
      for (const [, value] of status.matchAll(/^(?:RssAnon|RssShmem):\s+(\d+)/gm)) kib += Number(value);
    } catch {
      // The process has ended.
    }
  }
  return { pids, mib: kib / 1024 };
}

interface Peaks {
  mib: number;
  processes: number;
  diskMib: number;
}

async function measure(stage: string, work: Promise<unknown>): Promise<Peaks> {
  const peaks: Peaks = { mib: 0, processes: 0, diskMib: 0 };
  let isOver = false;
  const over = work.catch(() => {}).finally(() => (isOver = true));
  while (!isOver) {
    const { pids, mib } = processesBelow();
    peaks.mib = Math.max(peaks.mib, mib);
    peaks.processes = Math.max(peaks.processes, pids.length);
    peaks.diskMib = Math.max(peaks.diskMib, getDisk(join(stage, 'u/42')).mib);
    await Promise.race([over, sleep(SAMPLE_MS)]);
  }
  peaks.diskMib = Math.max(peaks.diskMib, getDisk(join(stage, 'u/42')).mib);
  return peaks;
}

const shellText = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

async function attemptOnce(
  host: EscapeHost,
  attempt: Attempt,
  { sandbox, run }: { sandbox: Sandbox | null; run: Run },
): Promise<Omit<EscapeOutcome, 'sandbox'>> {
  const startedAt = performance.now();
  const token = newToken();
  const owner = { owner: sandbox?.owner ?? null } as Sandbox;
  const secret = process.env[PLANTED] ?? '';
  const files = { 'u/42/own.txt': 'own\n', 'u/43/secret.txt': secret };
  const [stage, other] = [makeStage(owner, files), makeStage(owner, files)];
  using victim = new Victim();
  const output: Output = { text: '', bytes: 0 };
  // Without its own process namespace, a command would end this process too.
  const kill = sandbox === null || request.fault !== null ? '' : `-1 ${process.pid} `;
  const variables = {
    ...host.variables(token),
    SKILLS: sandbox === null ? request.skills : '/app/agency',
    OTHER: join(other, 'u/43/secret.txt'),
    VICTIM: String(victim.pid),
    KILL: `${kill}${victim.pid}`,
    TOKEN: token,
    N: String(attempt.sizes?.[sandbox === null ? 0 : 1] ?? 0),
  };
  const given = Object.entries(variables).filter(([name]) => attempt.variables?.includes(name) ?? true);
  const prelude = given.map(([name, value]) => `export ${name}=${shellText(value)}`);
  const command = [...prelude, 'reached() { echo "reached-$((40 + 2))"; }', attempt.command].join('\n');
  try {
    const running = run(command, attempt.seconds ?? LIMITS.seconds, stage, output);
    const peaks = MEASURED.has(attempt.seen) ? await measure(stage, running) : { mib: 0, processes: 0, diskMib: 0 };
    const { end } = await running;
    if (attempt.seen === 'late') await sleep(LATE_MS);
    // What was sent is read in a later turn.
    if (attempt.seen === 'heard') await sleep(200);
    const watched = [join(stage, 'u/43/secret.txt'), join(request.skills, 'SKILL.md')];
    const isPublishing = sandbox === null || end.startsWith('exit');
    const seen: Record<Sign, boolean> = {
      printed: host.hasSecret(output.text) || output.text.includes('reached-42'),
      heard: host.hasHeard(token),
      changed: host.hasChanged(token, watched),
      ended: victim.hasEnded,
      late: existsSync(join(stage, 'u/42/late')),
      flooded: output.bytes > LIMITS.outputBytes,
      memory: peaks.mib > MOST_MIB,
      disk: peaks.diskMib > MOST_DISK_MIB,
      processes: peaks.processes > MOST_PROCESSES,
      ...(isPublishing
        ? await published(stage, attempt.names ?? [], sandbox !== null)
        : { size: false, entries: false, published: false }),
    };
    const signs = (Object.keys(seen) as Sign[]).filter((sign) => seen[sign]);
    return {
      name: attempt.name,
      signs,
      end,
      ms: Math.round(performance.now() - startedAt),
      mib: Math.round(peaks.mib),
      diskMib: Math.round(peaks.diskMib),
      output: output.text.slice(0, 300),
    };
  } finally {
    for (const folder of [stage, other]) rmSync(folder, { recursive: true, force: true });
  }
}

/** Looks at what the server would publish. Without a sandbox, at everything in the folder. */
async function published(stage: string, names: readonly string[], isSandbox: boolean) {
  const path = (name: string) => join(stage, 'u/42', name);
  if (!isSandbox) {
    const entries = readdirSync(join(stage, 'u/42'), { recursive: true }).length;
    return {
      size: getDisk(join(stage, 'u/42')).largest > LIMITS.fileBytes,
      entries: entries > LIMITS.folderEntries,
      published: names.length > 0 && names.every((name) => existsSync(path(name)) || isThere(stage, name)),
    };
  }
  const { files, isWithinLimits } = await findFiles(stage, pathInMount('u/42'), LIMITS);
  if (!isWithinLimits) return { size: false, entries: false, published: false };
  const found = new Set(files.map((file) => file.path.slice('u/42/'.length)));
  return {
    size: files.some(({ size }) => size > LIMITS.fileBytes),
    entries: files.length > LIMITS.folderEntries,
    published: names.some((name) => found.has(name)),
  };
}

/** Names that are not UTF-8, and links that lead nowhere. */
const isThere = (stage: string, name: string) => readdirSync(join(stage, 'u/42')).includes(name);

const print = (outcome: EscapeOutcome) => process.stdout.write(`${JSON.stringify(outcome)}\n`);
const isRoot = process.getuid?.() === 0;
const attempts = ATTEMPTS.filter(
  ({ name, root }) => (request.names?.includes(name) ?? true) && (isRoot || root !== true),
);
await using host = await EscapeHost.open(process.env[PLANTED] ?? '', request.root);
for (const name of ['none', ...request.sandboxes] as const) {
  const sandbox = name === 'none' ? null : await openSandbox(name, request.fault);
  const run = sandbox === null ? withoutSandbox : inSandbox(sandbox);
  const kind = name === 'auto' && sandbox !== null ? sandbox.info.kind : name;
  host.plant();
  const one = async (attempt: Attempt) => {
    print({ sandbox: kind, ...(await attemptOnce(host, attempt, { sandbox, run })) });
  };
  const queue = attempts.filter(({ seen }) => !MEASURED.has(seen)).values();
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (const attempt of queue) await one(attempt);
    }),
  );
  for (const attempt of attempts) if (MEASURED.has(attempt.seen)) await one(attempt);
}
