import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempDisposableSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort, parseFrames } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, Shortfall, until, within } from '@runwire/test-kit/shortfall.ts';
import { linkPackages } from './support/link-packages.ts';
import { machinePath, newcomersEnvironment, withoutHosts } from './support/newcomer.ts';

/*
 * A newcomer clones what is committed into an empty folder, on a machine with Node, npm, sh, git and curl and nothing else
 * on the path, runs the two commands of the README, and the `curl` that the first start prints.
 */

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const PROGRAMS = ['node', 'npm', 'sh', 'git', 'curl'];
const START_MS = 60_000;
const INSTALL_MS = 600_000;
const TEST_MS = 1_800_000;
/** A line that ends in a backslash continues in the next. */
const PRINTED_CURL = /^ *curl (?:.*\\\n)*.*[^\\\n](?=\n)/m;

type Environment = Readonly<Record<string, string>>;

/** Runs a command to its end; returns its output. */
async function run(line: string, cwd: string, env: Environment, limitMs = START_MS): Promise<string> {
  const options = { cwd, env, timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: 2 ** 28 } as const;
  try {
    return (await promisify(execFile)('sh', ['-c', line], options)).stdout;
  } catch (error) {
    const { stdout, stderr, code } = error as { stdout: string; stderr: string; code: unknown };
    const output = withoutHosts(`${stdout}${stderr}`.slice(-4000));
    throw new Shortfall(`\`${line.slice(0, 60)}\`: expected to succeed, found exit ${code}:\n${output}`);
  }
}

/** `npm start`, the `curl` that it prints, and SIGTERM; returns the number of frames of the stream. */
async function startAndStream(clone: string, env: Environment): Promise<number> {
  const port = await freePort();
  const options = { cwd: clone, env: { ...env, PORT: String(port) }, detached: true } as const;
  const start = spawn('npm', ['start'], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, isGone] = ['', false];
  const gone = once(start, 'close').then(() => {
    isGone = true;
  });
  for (const stream of [start.stdout, start.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  try {
    await until('the `curl` that `npm start` prints', () => isGone || PRINTED_CURL.test(output));
    const curl = PRINTED_CURL.exec(output)?.[0];
    if (curl === undefined) throw new Shortfall(`\`npm start\`: expected a \`curl\`, found:\n${withoutHosts(output)}`);
    const frames = parseFrames(await run(curl, clone, env));
    const ends = [frames[0]?.event, frames.at(-1)?.event];
    expectEqual('first and last frame of the stream', ends, ['meta', 'end']);
    expectEqual('status of the console', (await fetch(`http://127.0.0.1:${port}/console/`)).status, 200);
    // To the command alone, as a supervisor sends it.
    start.kill('SIGTERM');
    await within('the end of `npm start` after SIGTERM', 20_000, gone);
    const isOpen = await fetch(`http://127.0.0.1:${port}/healthz`).then(() => true, () => false); // biome-ignore format: short
    expectEqual('the port is open after SIGTERM', isOpen, false);
    return frames.length;
  } finally {
    // The whole group, so that nothing is left. It has ended if all went well.
    await run(`kill -9 -- -${start.pid} || true`, clone, env);
  }
}

/** Planted: the printed `curl` asks for a path that does not exist. */
function breakStart(clone: string): void {
  const path = join(clone, 'packages/server/src/main.ts');
  const source = readFileSync(path, 'utf8');
  const broken = source.replaceAll('get_completion_v2', 'get_completion_v3');
  if (broken === source) throw new Error(`The fault finds nothing to break in ${path}.`);
  writeFileSync(path, broken);
}

test('a clone runs with two commands and answers the printed curl', async () => {
  const fault = plantedFault();
  const isShort = scale(true, false);
  using top = mkdtempDisposableSync(join(tmpdir(), 'runwire-clone-'));
  const [bin, clone] = [join(top.path, 'bin'), join(top.path, 'runwire')];
  mkdirSync(bin);
  for (const program of PROGRAMS) {
    const found = machinePath().find((entry) => existsSync(join(entry, program)));
    if (found === undefined) throw new Error(`There is no \`${program}\` on the path.`);
    symlinkSync(join(found, program), join(bin, program));
  }
  const env = newcomersEnvironment(bin);
  await run(`git clone --quiet '${REPOSITORY}' '${clone}'`, top.path, env);
  const node = Number.parseInt((await run('node --version', clone, env)).slice(1), 10);
  if (fault !== null) breakStart(clone);
  // The short form uses the packages that are installed here.
  if (isShort) linkPackages(REPOSITORY, clone);
  // A server needs no development packages: the console's pages are committed as they are served.
  else await run('npm ci --omit=dev', clone, env, INSTALL_MS);
  const figures = { node, started: 1, streamed: 1, frames: await startAndStream(clone, env), stopped: 1 };
  count(figures);
  if (isShort) return;
  await run('npm ci', clone, env, INSTALL_MS);
  await run('npm test', clone, env, TEST_MS);
  count({ tests_green: 1 });
});
