import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isBuildCurrent } from '../scripts/build/stamp.ts';
import { median } from './phases.ts';
import { cpuMs } from './proc.ts';

const root = join(import.meta.dirname, '..');
const PROGRAMS = {
  source: ['-C', 'runwire', 'packages/cli/src/main.ts'],
  build: ['packages/cli/dist/main.js'],
} as const;

/**
 * Returns the CPU seconds of `runwire serve` until it is ready, from the sources and from the build: the median of several
 * starts with an existing data folder. Builds first if the build is not current.
 */
export async function measureStart(starts: number): Promise<Readonly<Record<keyof typeof PROGRAMS, number>>> {
  if (!isBuildCurrent(root)) {
    const { status, stderr } = spawnSync('npm', ['run', 'build'], { cwd: root, encoding: 'utf8' });
    if (status !== 0) throw new Error(`The build failed: ${stderr}`);
  }
  return { source: await medianStart(PROGRAMS.source, starts), build: await medianStart(PROGRAMS.build, starts) };
}

async function medianStart(program: readonly string[], starts: number): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'runwire-bench-start-'));
  try {
    const seconds: number[] = [];
    for (let i = 0; i <= starts; i += 1) seconds.push(await startOnce(program, dataDir));
    // The first start creates the database.
    return median(seconds.slice(1));
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function startOnce(program: readonly string[], dataDir: string): Promise<number> {
  const env = { ...process.env, PORT: '0', RUNWIRE_DATA_DIR: dataDir };
  const child = spawn(process.execPath, [...program, 'serve', '--json'], {
    ...{ cwd: root, env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  // The line is printed when the server is ready. A server that fails closes its output.
  await Promise.race([once(child.stdout, 'data'), exited]);
  if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode} at its start.`);
  const seconds = cpuMs(child.pid ?? 0) / 1000;
  child.kill('SIGTERM');
  await exited;
  return seconds;
}
