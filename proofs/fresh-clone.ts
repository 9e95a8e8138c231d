import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, parseFrames } from '@runwire/test-kit';
import { machinePath, newcomersEnvironment, withoutHosts } from '../test/support/newcomer.ts';
import { linkPackages } from './support/link-packages.ts';
import { expectEqual, type Proof, Shortfall, within } from './support/proof.ts';

/*
 * A newcomer clones what is committed into an empty folder, on a machine with Node, npm, sh, git and curl and nothing else
 * on the path, runs the two commands of the README, and the `curl` that the first start prints.
 */

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const PROGRAMS = ['node', 'npm', 'sh', 'git', 'curl'];
const START_MS = 60_000;
const INSTALL_MS = 600_000;
const TEST_MS = 1_800_000;

/** A command in its own process group, so that nothing of it is left. */
class Command implements AsyncDisposable {
  readonly #child;
  readonly #name: string;
  /** Settles when the process has ended, with its exit code or its signal. */
  readonly gone: Promise<number | NodeJS.Signals | null>;
  out = '';
  #all = '';

  constructor(line: string, cwd: string, env: Readonly<Record<string, string>>) {
    this.#name = line.slice(0, 60);
    this.#child = spawn('sh', ['-c', `exec ${line}`], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
      this.#all += text;
    });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#all += text;
    });
    this.gone = new Promise((resolve, reject) => {
      // At `close`, unlike at `exit`, all output has arrived.
      this.#child.once('error', reject).once('close', (code, signal) => resolve(code ?? signal));
    });
  }

  #failure(end: number | NodeJS.Signals | null): Shortfall {
    const output = withoutHosts(this.#all.slice(-4000));
    return new Shortfall(`\`${this.#name}\`: expected to succeed, found that it ended with ${end}:\n${output}`);
  }

  /** Resolves when the output has what is waited for; rejects if the command ends before. */
  async printing(what: RegExp): Promise<string> {
    const looking = new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = what.exec(this.out);
        if (found !== null) resolve(found[0]);
      };
      this.#child.stdout.on('data', look);
      this.gone.then((end) => reject(this.#failure(end)), reject);
    });
    return within(`\`${this.#name}\` to print ${what}`, START_MS, looking);
  }

  async success(limitMs: number): Promise<string> {
    const end = await within(`\`${this.#name}\``, limitMs, this.gone);
    if (end !== 0) throw this.#failure(end);
    return this.out;
  }

  /** SIGTERM to the command alone, as a supervisor sends it. */
  terminate(): void {
    this.#child.kill('SIGTERM');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      process.kill(-(this.#child.pid ?? 0), 'SIGKILL');
    } catch {
      // The group has ended.
    }
    await this.gone.catch(() => {});
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

export const proof: Proof = {
  name: 'fresh-clone',
  minutes: 15,
  faults: { 'broken-start': /^first and last frame of the stream: expected \["meta","end"\], found /m },
  figures: () => ({ started: 1, streamed: 1, stopped: 1 }),
  async run({ fault, scale }) {
    const folder = mkdtempSync(join(tmpdir(), 'runwire-clone-'));
    try {
      const [bin, clone] = [join(folder, 'bin'), join(folder, 'runwire')];
      mkdirSync(bin);
      for (const program of PROGRAMS) {
        const found = machinePath().map((entry) => join(entry, program)).find(existsSync); // biome-ignore format: short
        if (found === undefined) throw new Error(`There is no \`${program}\` on the path.`);
        symlinkSync(found, join(bin, program));
      }
      const env = newcomersEnvironment(bin);
      const run = async (line: string, limitMs = START_MS, cwd = clone) => {
        await using command = new Command(line, cwd, env);
        return await command.success(limitMs);
      };
      await run(`git clone --quiet ${REPOSITORY} ${clone}`, START_MS, folder);
      const node = Number.parseInt((await run('node --version')).slice(1), 10);
      if (fault !== null) breakStart(clone);
      // The short form uses the packages that are installed here.
      if (scale(true, false)) linkPackages(REPOSITORY, clone);
      else await run('npm ci', INSTALL_MS);
      const port = await freePort();
      let frames: ReturnType<typeof parseFrames>;
      {
        await using start = new Command('npm start', clone, { ...env, PORT: String(port) });
        // A line that ends in a backslash continues in the next.
        const curl = await start.printing(/^ *curl (?:.*\\\n)*.*[^\\\n](?=\n)/m);
        frames = parseFrames(await run(curl));
        const ends = [frames[0]?.event, frames.at(-1)?.event];
        expectEqual('first and last frame of the stream', ends, ['meta', 'end']);
        start.terminate();
        await within('the end of `npm start` after SIGTERM', 20_000, start.gone);
        const isListening = await fetch(`http://127.0.0.1:${port}/healthz`).then(() => true, () => false); // biome-ignore format: short
        expectEqual('the port is open after SIGTERM', isListening, false);
      }
      const figures = { node, started: 1, streamed: 1, frames: frames.length, stopped: 1 };
      if (scale(true, false)) return figures;
      await run('npm ci', INSTALL_MS);
      await run('npm test', TEST_MS);
      return { ...figures, tests_green: 1 };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
