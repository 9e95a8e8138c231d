import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseFrames } from '@runwire/test-kit';
import { linkPackages } from './support/link-packages.ts';
import { machinePath, newcomersEnvironment, withoutHosts } from './support/newcomer.ts';
import { expectEqual, type Proof, Shortfall, within } from './support/proof.ts';

/*
 * What a newcomer does: a clone of what is committed, in an empty folder, on a machine with Node, npm, sh, git and curl
 * and nothing else on the path; the README's two commands, and the `curl` that the first start prints, as it stands.
 */

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const PROGRAMS = ['node', 'npm', 'sh', 'git', 'curl'];
const START_MS = 60_000;
const STOP_MS = 20_000;
const INSTALL_MS = 600_000;
const TEST_MS = 1_800_000;

/** A folder with the machine's own programs. */
function linkPrograms(folder: string): void {
  mkdirSync(folder);
  const machine = machinePath();
  for (const program of PROGRAMS) {
    const found = machine.map((entry) => join(entry, program)).find((path) => existsSync(path));
    if (found === undefined) throw new Error(`There is no \`${program}\` on the path.`);
    symlinkSync(found, join(folder, program));
  }
}

/** A command in a process group of its own, so that nothing of it is left behind. */
class Command implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #watchers: (() => void)[] = [];
  /** Settles when the process is gone, with its exit code or its signal. */
  readonly gone: Promise<number | NodeJS.Signals | null>;
  out = '';
  #said = '';

  constructor(name: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
    this.#name = `${name} ${args[0] ?? ''}`;
    this.#child = spawn(name, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
      this.#heard(text);
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#heard(text));
    this.gone = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      // `close` and not `exit`: by then all that it said has come.
      this.#child.once('close', (code, signal) => resolve(code ?? signal));
    });
  }

  #heard(text: string): void {
    this.#said += text;
    for (const watch of this.#watchers) watch();
  }

  /** The output once it holds what is waited for; fails where the command ends before. */
  async saying(what: RegExp, limitMs: number): Promise<RegExpExecArray> {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const look = () => {
      const found = what.exec(this.out);
      if (found !== null) resolve(found);
    };
    this.#watchers.push(look);
    look();
    this.gone.then((end) => reject(this.#ended(end)), reject);
    return within(`\`${this.#name}\` to say ${what}`, limitMs, promise);
  }

  #ended(end: number | NodeJS.Signals | null): Shortfall {
    const said = withoutHosts(this.#said.slice(-4000));
    return new Shortfall(`\`${this.#name}\`: expected to go well, found that it ended with ${end}:\n${said}`);
  }

  async success(limitMs: number): Promise<string> {
    const end = await within(`\`${this.#name}\``, limitMs, this.gone);
    if (end !== 0) throw this.#ended(end);
    return this.out;
  }

  /** To the command alone, as a supervisor sends it. */
  terminate(): void {
    this.#child.kill('SIGTERM');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // Nothing of the group is left.
    }
    await this.gone.catch(() => {});
  }
}

async function run(name: string, args: readonly string[], cwd: string, env: Record<string, string>, limitMs: number) {
  await using command = new Command(name, args, cwd, env);
  return await command.success(limitMs);
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    }),
  );
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** The printed `curl` asks for something that is not there. */
function breakStart(clone: string): void {
  const path = join(clone, 'packages/server/src/main.ts');
  const source = readFileSync(path, 'utf8');
  const broken = source.replaceAll('get_completion_v2', 'get_completion_v3');
  if (broken === source) throw new Error(`The fault finds nothing to break in ${path}.`);
  writeFileSync(path, broken);
}

/** `npm start`, the printed `curl`, SIGTERM; resolves to the number of frames that came. */
async function startAndStream(clone: string, env: Record<string, string>): Promise<number> {
  const port = await freePort();
  await using start = new Command('npm', ['start'], clone, { ...env, PORT: String(port) });
  // A line that ends in a backslash goes on in the next.
  const [curl] = await start.saying(/^ *curl (?:.*\\\n)*.*[^\\\n](?=\n)/m, START_MS);
  const stream = await run('sh', ['-c', curl], clone, env, START_MS);
  const frames = parseFrames(stream);
  expectEqual('first and last frame of the stream', [frames[0]?.event, frames.at(-1)?.event], ['meta', 'end']);
  start.terminate();
  await within('the end of `npm start` after SIGTERM', STOP_MS, start.gone);
  expectEqual('somebody listens after SIGTERM', await isListening(port), false);
  return frames.length;
}

export const proof: Proof = {
  name: 'fresh-clone',
  minutes: 15,
  faults: {
    'broken-start': /^first and last frame of the stream: expected \["meta","end"\], found /m,
  },
  figures: () => ({ started: 1, streamed: 1, stopped: 1 }),
  async run({ fault, scale }) {
    const short = scale(true, false);
    const folder = mkdtempSync(join(tmpdir(), 'runwire-clone-'));
    try {
      const bin = join(folder, 'bin');
      linkPrograms(bin);
      const env = newcomersEnvironment(bin);
      const clone = join(folder, 'runwire');
      await run('git', ['clone', '--quiet', REPOSITORY, clone], folder, env, START_MS);
      const node = await run('node', ['--version'], clone, env, START_MS);
      if (fault !== null) breakStart(clone);
      // The short form's stand-in for `npm ci`.
      if (short) linkPackages(REPOSITORY, clone);
      else await run('npm', ['ci'], clone, env, INSTALL_MS);
      const frames = await startAndStream(clone, env);
      const figures = { node: Number.parseInt(node.slice(1), 10), started: 1, streamed: 1, frames, stopped: 1 };
      if (short) return figures;
      await run('npm', ['ci'], clone, env, INSTALL_MS);
      await run('npm', ['test'], clone, env, TEST_MS);
      return { ...figures, tests_green: 1 };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
